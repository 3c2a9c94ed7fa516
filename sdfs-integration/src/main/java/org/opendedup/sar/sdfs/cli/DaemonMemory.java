package org.opendedup.sar.sdfs.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.volume.MemoryPlan;
import org.opendedup.sar.volume.VolumeConfig;

/**
 * How a volume's memory budget is divided, as far as the daemon's JVM and the administrator need it.
 *
 * @param heapBytes the JVM's heap ({@code -Xmx})
 * @param directBytes buffers outside the heap ({@code -XX:MaxDirectMemorySize})
 * @param parts every part by its name, in bytes; what is indented is within the heap, which has room for garbage besides
 */
record DaemonMemory(long heapBytes, long directBytes, Map<String, Long> parts) {

    static DaemonMemory of(VolumeConfig config) {
        MemoryPlan plan = MemoryPlan.of(config.memoryBudgetBytes());
        var parts = new LinkedHashMap<String, Long>();
        parts.put("heap", plan.heap());
        parts.put("  restore cache", plan.restoreCache());
        parts.put("  dirty data", plan.dirty());
        parts.put("  pending metadata", plan.pendingMetadata());
        parts.put("  metadata cache", plan.metadataCache());
        parts.put("  frames being written", plan.framesInFlight());
        parts.put("  frame tables", plan.frameTables());
        parts.put("  index", plan.indexHeap());
        parts.put("index database", plan.indexNative());
        parts.put("metadata database", plan.metadataNative());
        parts.put("buffers", plan.buffers());
        return new DaemonMemory(plan.heap(), plan.buffers(), parts);
    }

    /** One line a part, indented. */
    String table() {
        return parts.entrySet().stream()
                .map(part -> String.format("  %-28s %10s%n", part.getKey(), ByteSize.rounded(part.getValue())))
                .collect(Collectors.joining());
    }
}
