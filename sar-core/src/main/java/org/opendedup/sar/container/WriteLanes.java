package org.opendedup.sar.container;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Leases a bounded number of lanes to streams, so that the chunks of one stream lie together. A stream that wrote at
 * least one frame has a claim to its lane. Smaller streams have no claim and follow each other in the lane used last,
 * so that many small files written one after another also lie together.
 */
final class WriteLanes {
    private final int maxLanes;
    private final int claimBytes;
    private final WriteLane.Containers containers;

    /** Lanes, the most recently released last. Guarded by this. */
    private final List<WriteLane> lanes = new ArrayList<>();

    WriteLanes(int maxLanes, int claimBytes, WriteLane.Containers containers) {
        this.maxLanes = maxLanes;
        this.claimBytes = claimBytes;
        this.containers = containers;
    }

    synchronized WriteLane.Lease lease(long stream) {
        WriteLane lane = choose(stream);
        lane.leases++;
        return lane.new Lease();
    }

    private WriteLane choose(long stream) {
        WriteLane unclaimed = null;
        WriteLane leastRecent = null;
        WriteLane leastLoaded = null;
        for (WriteLane lane : lanes) {
            if (lane.leases == 0) {
                if (lane.claim == stream) {
                    return lane;
                }
                if (lane.claim == WriteLane.UNCLAIMED) {
                    unclaimed = lane;
                } else if (leastRecent == null) {
                    leastRecent = lane;
                }
            } else if (leastLoaded == null || lane.leases < leastLoaded.leases) {
                leastLoaded = lane;
            }
        }
        if (unclaimed != null) {
            return unclaimed;
        }
        if (lanes.size() < maxLanes) {
            WriteLane added = new WriteLane(containers);
            lanes.add(added);
            return added;
        }
        if (leastRecent != null) {
            leastRecent.claim = WriteLane.UNCLAIMED;
            return leastRecent;
        }
        return Objects.requireNonNull(leastLoaded, "a bound of at least one lane");
    }

    synchronized void release(WriteLane.Lease lease, long stream, long appendedBytes) {
        WriteLane lane = lease.lane();
        lane.leases--;
        if (appendedBytes >= claimBytes) {
            lane.claim = stream;
        }
        lanes.remove(lane);
        lanes.add(lane);
    }

    /** Returns every lane; the caller empties them. */
    synchronized List<WriteLane> all() {
        return List.copyOf(lanes);
    }
}
