#include "node_knowledge.hpp"

#include "node_knowledge_of.hpp"

namespace hexdata {

StoneRows stone_rows(const Board& board) {
    StoneRows stones{};
    for (int cell = 0; cell < board.cells(); ++cell)
        if (const auto colour = board.stone(cell))
            stones[index_of(*colour)][cell / board.size()] |= 1u << (cell % board.size());
    return stones;
}

std::unique_ptr<NodeKnowledge> make_node_knowledge(int size) {
    switch (proof::words_for_size(size)) {
        case 1: return std::make_unique<NodeKnowledgeOf<1>>(size);
        case 2: return std::make_unique<NodeKnowledgeOf<2>>(size);
        case 3: return std::make_unique<NodeKnowledgeOf<3>>(size);
        default: return std::make_unique<NodeKnowledgeOf<6>>(size);
    }
}

}  // namespace hexdata
