package org.opendedup.sar.sdfs.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.volume.VolumeConfig;

/**
 * How a volume's memory budget is divided, as far as the daemon's JVM and the administrator need it.
 *
 * @param heapBytes the JVM's heap ({@code -Xmx})
 * @param directBytes buffers outside the heap ({@code -XX:MaxDirectMemorySize})
 * @param parts every part by its name, in bytes; heap and direct buffers included; their sum is at most the budget
 */
record DaemonMemory(long heapBytes, long directBytes, Map<String, Long> parts) {

    static DaemonMemory of(VolumeConfig config) {
        long budget = config.memoryBudgetBytes();
        long heap = budget / 2;
        long direct = budget / 4;
        var parts = new LinkedHashMap<String, Long>();
        parts.put("heap", heap);
        parts.put("direct buffers", direct);
        parts.put("native (index, metadata)", budget - heap - direct);
        return new DaemonMemory(heap, direct, parts);
    }

    /** One line a part, indented. */
    String table() {
        return parts.entrySet().stream()
                .map(part -> String.format("  %-28s %10s%n", part.getKey(), ByteSize.rounded(part.getValue())))
                .collect(Collectors.joining());
    }
}
