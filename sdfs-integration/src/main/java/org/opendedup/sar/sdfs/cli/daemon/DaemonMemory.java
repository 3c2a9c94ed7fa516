package org.opendedup.sar.sdfs.cli.daemon;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * How a volume's memory budget is divided, as far as the daemon's JVM and the administrator need it.
 *
 * @param heapBytes the JVM's heap ({@code -Xmx})
 * @param directBytes buffers outside the heap ({@code -XX:MaxDirectMemorySize})
 * @param parts every part by its name, in bytes; those from restoreCacheBytes to checkBytes are inside the heap, which
 *     also has room for garbage and for work in progress
 */
public record DaemonMemory(long heapBytes, long directBytes, Map<String, Long> parts) {

    public static DaemonMemory of(VolumeConfig config) {
        MemoryPlan plan = MemoryPlan.of(config);
        var parts = new LinkedHashMap<String, Long>();
        parts.put("heapBytes", plan.heap());
        parts.put("restoreCacheBytes", plan.restoreCache());
        parts.put("dirtyBytes", plan.dirty());
        parts.put("pendingMetadataBytes", plan.pendingMetadata());
        parts.put("metadataCacheBytes", plan.metadataCache());
        parts.put("framesInFlightBytes", plan.framesInFlight());
        parts.put("segmentsBytes", plan.segments());
        parts.put("frameTablesBytes", plan.frameTables());
        parts.put("indexHeapBytes", plan.indexHeap());
        parts.put("nodesBytes", plan.nodes());
        parts.put("tierBytes", plan.hot());
        parts.put("offersBytes", plan.offers());
        parts.put("checkBytes", plan.check());
        parts.put("indexNativeBytes", plan.indexNative());
        parts.put("metadataNativeBytes", plan.metadataNative());
        parts.put("tierNativeBytes", plan.tierNative());
        parts.put("checkNativeBytes", plan.checkNative());
        parts.put("buffersBytes", plan.direct());
        parts.put("compressorsBytes", plan.compressors());
        return new DaemonMemory(plan.heap(), plan.direct(), parts);
    }

    /** Returns the parts as text, one indented line each. */
    public String table() {
        return parts.entrySet().stream()
                .map(part -> String.format("  %-28s %10s%n", part.getKey(), ByteSize.rounded(part.getValue())))
                .collect(Collectors.joining());
    }
}
