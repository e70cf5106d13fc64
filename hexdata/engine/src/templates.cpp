#include "templates.hpp"

namespace hexdata {

const std::vector<TemplateShape>& template_shapes() {
  static const std::vector<TemplateShape> shapes{
#include "templates.inc"
  };
  return shapes;
}

}  // namespace hexdata
