package org.opendedup.sar.collect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.metadata.pending.ContainerTable;

/**
 * Chooses the packs to be written anew where the file system cannot free a part of a file: only a pack without a
 * container gives its space back there. To copy the last containers of a pack that is mostly dead returns the most
 * space for each byte that is written.
 *
 * <p>Memory: about 200 bytes for each pack, that is, for 256 MiB of containers.
 */
final class DeadPacks {
    /** Packs with a smaller dead share are never chosen: four bytes would be written for one that comes back. */
    private static final double LEAST_SHARE = 0.2;

    private DeadPacks() {}

    /** Says of which dead share on it pays to write the rest of a pack anew; above 1 if it does not pay now. */
    interface LeastShare {
        double of(long pack) throws IOException;
    }

    private record Pack(long number, long bytes, double liveBytes) {
        double deadShare() {
            return 1 - liveBytes / bytes;
        }
    }

    /**
     * Returns the numbers of the chosen packs: those with the largest dead share, of which it pays, until no more of
     * what is stored is dead than allowed; and all of which nothing is alive.
     *
     * @param packBytes lengths of the packs that can be chosen, by number
     * @param garbageShare share of the packs' bytes that may stay dead
     * @param leastShare asked of packs of which something is alive
     */
    static Set<Long> choose(ContainerTable table, Map<Long, Long> packBytes, double garbageShare, LeastShare leastShare)
            throws IOException {
        Map<Long, Double> liveBytes = new HashMap<>();
        table.forEach(entry -> liveBytes.merge(
                entry.stored().pack(), (double) (entry.stored().bytes() - entry.garbageBytes()), Double::sum));
        List<Pack> packs = new ArrayList<>();
        double allLive = 0;
        double left = 0;
        for (Map.Entry<Long, Long> each : packBytes.entrySet()) {
            double live = liveBytes.getOrDefault(each.getKey(), 0.0);
            packs.add(new Pack(each.getKey(), each.getValue(), live));
            allLive += live;
            left += each.getValue() - live;
        }
        packs.sort(Comparator.comparingDouble(Pack::deadShare).reversed());
        double allowed = Victims.allowedGarbage(allLive, garbageShare);
        Set<Long> chosen = new HashSet<>();
        for (Pack pack : packs) {
            if (pack.liveBytes() > 0 && (left <= allowed || pack.deadShare() < LEAST_SHARE)) {
                break;
            }
            if (pack.liveBytes() == 0 || pack.deadShare() >= leastShare.of(pack.number())) {
                chosen.add(pack.number());
                left -= pack.bytes() - pack.liveBytes();
            }
        }
        return chosen;
    }
}
