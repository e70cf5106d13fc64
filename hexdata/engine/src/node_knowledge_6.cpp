#include "node_knowledge_of.hpp"

template class hexdata::NodeKnowledgeOf<6>;
