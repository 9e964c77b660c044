// What the stand-in simulates: a text file, one statement a line, # before comments. Times are whole nanoseconds.
//
//     nodes N                         how many, numbered from 0
//     time_limit TIME
//     link A B                        A and B are neighbours from the start
//     up TIME A B, down TIME A B      the link comes up, or goes down and loses what is under way on it
//     delay TIME                      from a send to its arrivals; 1 ms if left out
//     seed N, processing_delay TIME   0 if left out
//     move NODE TIME X Y              NODE goes straight to (X, Y) metres, where it is at TIME; for hosts that ask for it
//     start NODE X Y                  NODE is at (X, Y) metres at first, and then goes where the host sends it
//     reach METRES                    nodes are neighbours, too, while they are so far from each other at most
//     refuse NODE TIME                the MAC of NODE refuses the first packet that it gets at TIME or later
//     misbehave KIND [AFTER [STATUS]] after AFTER Steps; see misbehaviour.h
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "client/messages.h"

namespace roambus::stand_in {

struct LinkChange {
    SimTime time = 0;
    NodeId a = 0;
    NodeId b = 0;
    bool up = true;
};

struct Refusal {
    NodeId node = 0;
    SimTime time = 0;
};

struct Misbehaviour {
    std::string kind;  // empty: none
    std::uint64_t after = 0;
    int status = 1;
};

struct Script {
    Run run;
    SimTime delay = 1000000;
    std::vector<LinkChange> changes;
    std::vector<Move> moves;
    std::vector<Move> starts;  // of the nodes that the host moves
    double reach = 0;
    std::vector<Refusal> refusals;
    Misbehaviour misbehaviour;
};

// Throws std::invalid_argument, which names `path` and the line.
Script parse_script(std::istream& lines, const std::string& path);

}  // namespace roambus::stand_in
