package org.opendedup.sar.heal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.opendedup.sar.heal.HealReport.Unhealed;

/**
 * What a pass could not heal, by container. Of a disk that is gone, each frame may have an entry: beyond a number of
 * entries, a container has only one, so memory is bounded by the number of containers. For one thread.
 */
final class UnhealedContainers {
    private final Map<Long, List<Unhealed>> containers = new HashMap<>();
    private final int most;
    private int entries;

    /** @param most number of entries beyond which those of a container become one */
    UnhealedContainers(int most) {
        this.most = most;
    }

    /** Sets what stays damaged of a container; empty for nothing. */
    void put(long container, List<Unhealed> left) {
        List<Unhealed> before = containers.remove(container);
        entries -= before == null ? 0 : before.size();
        if (!left.isEmpty()) {
            List<Unhealed> kept = entries + left.size() <= most ? List.copyOf(left) : List.of(sum(left));
            containers.put(container, kept);
            entries += kept.size();
        }
    }

    private static Unhealed sum(List<Unhealed> left) {
        Unhealed first = left.get(0);
        int chunks = left.stream().mapToInt(Unhealed::chunks).sum();
        return left.size() == 1
                ? first
                : new Unhealed(
                        first.container(),
                        first.firstSlot(),
                        chunks,
                        first.reason() + "; so it is, or similar, with other chunks of the container");
    }

    boolean isEmpty() {
        return containers.isEmpty();
    }

    /** Returns the containers of which something stays damaged. */
    Set<Long> containers() {
        return Set.copyOf(containers.keySet());
    }

    /** Visits all entries, in the order of the containers. */
    void forEach(Consumer<Unhealed> visitor) {
        List<Long> ids = new ArrayList<>(containers.keySet());
        ids.sort(null);
        ids.forEach(id -> containers.getOrDefault(id, List.of()).forEach(visitor));
    }
}
