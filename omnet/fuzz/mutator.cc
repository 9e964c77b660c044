#include "fuzz/mutator.h"

#include <utility>

namespace roambus::fuzz {
namespace {

constexpr std::size_t kMostDamages = 8;
constexpr std::size_t kLongestMessage = 4096;

char byte(std::size_t value) {
    return static_cast<char>(static_cast<unsigned char>(value));
}

}  // namespace

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> corpus) : random_(seed), corpus_(std::move(corpus)) {}

std::string Mutator::next() {
    std::string bytes = corpus_[pick(corpus_.size())];
    for (std::size_t damages = pick(kMostDamages + 1); damages > 0; --damages)
        damage(bytes);
    if (bytes.size() > kLongestMessage)
        bytes.resize(kLongestMessage);
    return bytes;
}

std::size_t Mutator::pick(std::size_t below) {
    return static_cast<std::size_t>(random_() % below);
}

void Mutator::damage(std::string& bytes) {
    if (bytes.empty())
        bytes = corpus_[pick(corpus_.size())];
    const std::size_t place = pick(bytes.size());
    const std::size_t length = 1 + pick(bytes.size() - place);
    const std::string& other = corpus_[pick(corpus_.size())];
    switch (pick(8)) {
        case 0: bytes[place] = byte(static_cast<unsigned char>(bytes[place]) ^ (1u << pick(8))); break;
        case 1: bytes[place] = byte(pick(256)); break;
        case 2: bytes.insert(place, 1, byte(pick(256))); break;
        case 3: bytes.insert(place, 1 + pick(10), '\xff'); break;  // a long or endless number
        case 4: bytes.erase(place, length); break;
        case 5: bytes.insert(place, bytes.substr(place, length)); break;
        case 6: bytes.resize(place); break;
        default: bytes.replace(place, length, other.substr(pick(other.size()))); break;
    }
}

}  // namespace roambus::fuzz
