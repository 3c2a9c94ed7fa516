package org.opendedup.sar.sdfs.jmx;

import com.google.common.base.CaseFormat;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.tier.SsdState;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.copies.Refusal;

/** The statistics of a volume's SSD under stable names. */
public final class SarFigures {
    private SarFigures() {}

    /** Returns the summary that {@code stats} shows. */
    public static Map<String, Object> summary(SsdTier.Status status) {
        var figures = new LinkedHashMap<String, Object>();
        figures.put("state", spelling(status.state()));
        figures.put("offeredChunks", status.promotion().offered());
        figures.put("waitingChunks", status.promotion().waiting());
        figures.put("refusedChunks", status.promotion().allRefused());
        figures.put("promotedChunks", status.promotion().promoted());
        figures.put("promotedBytes", status.promotion().bytes());
        figures.put("readChunks", status.distributor().chunks());
        figures.put("unreadChunks", status.distributor().unread());
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
        return figures;
    }

    /** Returns the name of a cause of refusal, such as {@code refusedNoRoom}. */
    public static String name(Refusal refusal) {
        return "refused" + CaseFormat.UPPER_UNDERSCORE.to(CaseFormat.UPPER_CAMEL, refusal.name());
    }

    /** Returns a state in lower case with a dash, such as {@code read-only}. */
    public static String spelling(SsdState state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the folder of the SSD; empty if there is none. */
    public static String location(SsdTier.Status status) {
        Path location = status.location();
        return location == null ? "" : location.toString();
    }

    /** Returns the memory per entry of the Map table, in bytes; 0 if the table is empty. */
    public static double bytesPerEntry(SsdTier.Status status) {
        return status.mapTableEntries() == 0 ? 0 : (double) status.mapTableHeapBytes() / status.mapTableEntries();
    }
}
