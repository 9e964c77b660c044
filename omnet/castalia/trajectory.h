#pragma once

#include <vector>

namespace roambus {

// A node is at (x, y) metres at `time` seconds.
struct WayPoint {
    double time;
    double x;
    double y;
};

// Where one node is, and was: it goes straight from way-point to way-point, and stays at the last.
class Trajectory {
public:
    // Appends a way-point, not before the last.
    void add(WayPoint point);

    // Goes from `from` straight to `to`, in place of everything after `from`.
    void turn(WayPoint from, WayPoint to);

    // The last way-point; there must be one.
    const std::vector<WayPoint>& points() const { return points_; }

    const WayPoint& last() const { return points_.back(); }

    // The place at `time`, which must not be before the second last way-point.
    WayPoint at(double time) const;

    // The way-points before `end`; and the place at `end`, if the node is on its way then.
    std::vector<WayPoint> until(double end) const;

private:
    std::vector<WayPoint> points_;
};

}  // namespace roambus
