package org.opendedup.sar.restore.fragmentation;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A container of which a file wants little.
 *
 * @param wantedBytes bytes of the different chunks that the file wants
 * @param use their share of the container's bytes
 */
public record SparseContainer(long container, long wantedBytes, double use) {
    /**
     * Chooses the containers worth rewriting: the sparsest first, up to {@code maxBytes} wanted bytes (HAR, ATC '14,
     * §4).
     *
     * @return ids of the containers; none if there is only one: its chunks would again be in one container
     */
    public static Set<Long> worstOf(Collection<SparseContainer> found, long maxBytes) {
        var chosen = new HashSet<SparseContainer>();
        long bytes = 0;
        var sparsestFirst = found.stream()
                .sorted(Comparator.comparingDouble(SparseContainer::use).thenComparingLong(SparseContainer::container))
                .toList();
        for (SparseContainer container : sparsestFirst) {
            if (bytes + container.wantedBytes > maxBytes) {
                break;
            }
            bytes += container.wantedBytes;
            chosen.add(container);
        }
        return chosen.size() < 2
                ? Set.of()
                : chosen.stream().map(SparseContainer::container).collect(Collectors.toUnmodifiableSet());
    }
}
