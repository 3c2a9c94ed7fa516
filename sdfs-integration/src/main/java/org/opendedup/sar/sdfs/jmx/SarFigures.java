package org.opendedup.sar.sdfs.jmx;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.tier.SsdTier;

/** The figures of a volume's SSD under stable names. */
public final class SarFigures {
    private SarFigures() {}

    /** Those that {@code stats} shows: a summary. */
    public static Map<String, Object> summary(SsdTier.Status status) {
        var figures = new LinkedHashMap<String, Object>();
        figures.put("state", spelling(status.state()));
        figures.put("promotedChunks", status.promotion().promoted());
        figures.put("promotedBytes", status.promotion().bytes());
        figures.put("ssdHits", status.distributor().ssdHits());
        figures.put("ssdBytes", status.distributor().ssdBytes());
        figures.put("homeReads", status.distributor().homeReads());
        figures.put("homeBytes", status.distributor().homeBytes());
        figures.put("memoryHits", status.distributor().memoryHits());
        figures.put("demotedChunks", status.demotion().demoted());
        figures.put("demotionRunning", status.demotion().running());
        figures.put("mapTableEntries", status.mapTableEntries());
        figures.put("mapTableHeapBytes", status.mapTableHeapBytes());
        figures.put("lruListHeapBytes", status.lruHeapBytes());
        figures.put("ssdUsedBytes", status.usedBytes());
        figures.put("ssdLiveBytes", status.liveBytes());
        figures.put("ssdCapacityBytes", status.settings().capacityBytes());
        figures.put("queueDrops", status.log().queueDrops());
        return figures;
    }

    /** A state in small letters, with a dash: {@code read-only}. */
    public static String spelling(SsdTier.State state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The SSD's folder; empty without one. */
    public static String location(SsdTier.Status status) {
        Path location = status.location();
        return location == null ? "" : location.toString();
    }

    /** Memory that each entry of the Map table takes; 0 when it is empty. */
    public static double bytesPerEntry(SsdTier.Status status) {
        return status.mapTableEntries() == 0 ? 0 : (double) status.mapTableHeapBytes() / status.mapTableEntries();
    }
}
