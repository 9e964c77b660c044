#include "stand_in/script.h"

#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "stand_in/misbehaviour.h"

namespace roambus::stand_in {
namespace {

using Statement = std::function<void(std::istream&, Script&)>;

template <typename Number>
Number number(std::istream& words) {
    Number value{};
    if (!(words >> value))
        throw std::invalid_argument("a number is missing");
    return value;
}

NodeId node(std::istream& words, const Script& script) {
    const NodeId value = number<NodeId>(words);
    if (value >= script.run.nodes.size())
        throw std::invalid_argument("there is no node " + std::to_string(value) + " (yet)");
    return value;
}

SimTime time(std::istream& words) {
    const SimTime value = number<SimTime>(words);
    if (value < 0)
        throw std::invalid_argument("a time is negative");
    return value;
}

void set_nodes(std::istream& words, Script& script) {
    const auto count = number<NodeId>(words);
    if (count > kBroadcast)
        throw std::invalid_argument("more nodes than addresses");
    script.run.nodes.resize(count);
}

void add_change(std::istream& words, Script& script, SimTime at, bool up) {
    const NodeId a = node(words, script);
    script.changes.push_back({at, a, node(words, script), up});
}

void add_refusal(std::istream& words, Script& script) {
    const NodeId refusing = node(words, script);
    script.refusals.push_back({refusing, time(words)});
}

void add_move(std::istream& words, Script& script) {
    const NodeId moving = node(words, script);
    const SimTime at = time(words);
    const auto x = number<double>(words);
    script.moves.push_back({at, moving, x, number<double>(words)});
}

void add_start(std::istream& words, Script& script) {
    const NodeId steered = node(words, script);
    const auto x = number<double>(words);
    script.starts.push_back({0, steered, x, number<double>(words)});
}

void set_misbehaviour(std::istream& words, Script& script) {
    Misbehaviour& misbehaviour = script.misbehaviour;
    words >> misbehaviour.kind;
    if (!is_misbehaviour(misbehaviour.kind))
        throw std::invalid_argument("no such misbehaviour");
    if (words >> misbehaviour.after)
        words >> misbehaviour.status;
    words.clear();
}

const std::map<std::string, Statement>& statements() {
    static const std::map<std::string, Statement> all = {
        {"nodes", set_nodes},
        {"time_limit", [](auto& words, auto& script) { script.run.time_limit = time(words); }},
        {"link", [](auto& words, auto& script) { add_change(words, script, 0, true); }},
        {"up", [](auto& words, auto& script) { add_change(words, script, time(words), true); }},
        {"down", [](auto& words, auto& script) { add_change(words, script, time(words), false); }},
        {"delay", [](auto& words, auto& script) { script.delay = time(words); }},
        {"seed", [](auto& words, auto& script) { script.run.seed = number<std::int64_t>(words); }},
        {"processing_delay", [](auto& words, auto& script) { script.run.processing_delay = time(words); }},
        {"move", add_move},
        {"start", add_start},
        {"reach", [](auto& words, auto& script) { script.reach = number<double>(words); }},
        {"refuse", add_refusal},
        {"misbehave", set_misbehaviour},
    };
    return all;
}

void read_line(const std::string& line, Script& script) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    if (!(words >> name))
        return;
    const auto statement = statements().find(name);
    if (statement == statements().end())
        throw std::invalid_argument("no such statement");
    statement->second(words, script);
    if (std::string rest; words >> rest)
        throw std::invalid_argument("\"" + rest + "\" is too much");
}

}  // namespace

Script parse_script(std::istream& lines, const std::string& path) {
    Script script;
    script.run.simulator = "roambus stand-in";
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        try {
            read_line(line, script);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(path + ":" + std::to_string(number) + ": \"" + line + "\": " + error.what());
        }
    }
    if (script.run.nodes.empty() || script.run.time_limit == 0)
        throw std::invalid_argument(path + ": needs both nodes and time_limit");
    return script;
}

}  // namespace roambus::stand_in
