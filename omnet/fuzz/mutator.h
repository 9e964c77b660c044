// Small random damage to bytes; the same seed does the same damage everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace roambus::fuzz {

class Mutator {
public:
    // `corpus`: valid messages, not empty.
    Mutator(std::uint64_t seed, std::vector<std::string> corpus);

    // One message of the corpus, with no to eight damages.
    std::string next();

    // A number from 0 to `below` - 1.
    std::size_t pick(std::size_t below);

private:
    void damage(std::string& bytes);

    std::mt19937_64 random_;
    std::vector<std::string> corpus_;
};

}  // namespace roambus::fuzz
