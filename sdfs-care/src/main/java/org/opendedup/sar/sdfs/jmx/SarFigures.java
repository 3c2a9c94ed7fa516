package org.opendedup.sar.sdfs.jmx;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.demotion.DemotionStatistics;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.promotion.PromotionStatistics;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.ssd.SsdLogStatistics;

/**
 * The figures of a volume's SSD, in sections: what {@code sar status} shows, and the attributes of the beans of
 * {@link SarBeans}. The names are stable.
 */
public record SarFigures(
        @Figure(value = "none, online, read-only, suspended, detached or failed", unit = "name")
        String state,

        @Figure(value = "Reason why the SSD is not online, or another problem; empty if there is none", unit = "text")
        String reason,

        @Figure(value = "Folder on the SSD; empty without one", unit = "path")
        String location,

        Map<String, Object> parameters,
        Space space,
        Memory memory,
        Promotion promotion,
        Demotion demotion,
        DistributorStatistics reads,
        SsdLogStatistics log) {
    /** How much of the SSD is used. */
    public record Space(
            long ssdCapacityBytes,

            @Figure(value = "Bytes used on the SSD, including dead records and the database", unit = "bytes")
            long ssdUsedBytes,

            @Figure(value = "Bytes of records that the Map table points to", unit = "bytes")
            long ssdLiveBytes) {}

    /** The tables in memory. */
    public record Memory(
            @Figure(value = "Chunks on the SSD", unit = "Map table entries")
            long mapTableEntries,

            @Figure(value = "Largest number of entries that the memory budget allows", unit = "Map table entries")
            long mapTableMaxEntries,

            @Figure(value = "Memory of the table, free places included", unit = "bytes")
            long mapTableHeapBytes,

            @Figure(value = "Memory of the table for each entry; 0 if the table is empty", unit = "bytes an entry")
            double mapTableBytesPerEntry,

            @Figure(value = "Number of entries now", unit = "list items")
            int lruItems,

            @Figure(
                    value = "Second reads found in the list since the volume was mounted",
                    unit = "chunks",
                    counter = true)
            long lruHits,

            @Figure(value = "Memory of the list", unit = "bytes")
            long lruHeapBytes) {}

    /** What was promoted, what was not, and why. */
    public record Promotion(
            @Figure(
                    value = "Chunks offered since the volume was mounted: the sum of promoted, refused and waiting"
                            + " chunks",
                    unit = "chunks",
                    counter = true)
            long offeredChunks,

            @Figure(
                    value = "Offered chunks that were written to the SSD, including chunks demoted since",
                    unit = "chunks",
                    counter = true)
            long promotedChunks,

            @Figure(value = "Bytes of these, before compression", unit = "bytes", counter = true)
            long promotedBytes,

            @Figure(
                    value = "Chunks promoted after a duplicate was written",
                    unit = "chunks",
                    counter = true,
                    name = "PromotedByWrite")
            long byWrite,

            @Figure(
                    value = "Chunks promoted after a read: a second one, one of a frame that lacked them, "
                            + "or with the policy open any",
                    unit = "chunks",
                    counter = true,
                    name = "PromotedByRead")
            long byRead,

            @Figure(
                    value = "Chunks promoted because a file uses little of their container",
                    unit = "chunks",
                    counter = true,
                    name = "PromotedByRecipe")
            long byRecipe,

            @Figure(value = "Chunks in the queue, with their bytes, that the SSD has not written yet", unit = "chunks")
            long queuedChunks,

            @Figure(
                    value = "Chunks that arrived while the queue was full, and that will be read again",
                    unit = "chunks")
            long rememberedChunks,

            @Figure(value = "Chunks not promoted: the sum of all causes that follow", unit = "chunks", counter = true)
            long refusedChunks,

            @Figure(value = "Not promoted: too few references", unit = "chunks", counter = true)
            long refusedCount,

            @Figure(value = "Not promoted: part of a long run", unit = "chunks", counter = true)
            long refusedRun,

            @Figure(value = "Not promoted: on the SSD already, or being written", unit = "chunks", counter = true)
            long refusedPresent,

            @Figure(
                    value = "Not promoted: of less value than the chunks on the full SSD",
                    unit = "chunks",
                    counter = true)
            long refusedRank,

            @Figure(value = "Not promoted: longer than a record may be", unit = "chunks", counter = true)
            long refusedTooLarge,

            @Figure(value = "Not promoted: demotion and cleaning made too little room", unit = "chunks", counter = true)
            long refusedNoRoom,

            @Figure(
                    value = "Not promoted: the queue was full, and too many chunks were remembered",
                    unit = "chunks",
                    counter = true)
            long refusedQueue,

            @Figure(value = "Not promoted: no SSD, or it accepted no writes", unit = "chunks", counter = true)
            long refusedUnavailable,

            @Figure(
                    value = "Not promoted: the SSD failed during the write, or was not written after a failure",
                    unit = "chunks",
                    counter = true)
            long refusedWriteFailed,

            @Figure(value = "Not promoted: their bytes were not those of the chunk", unit = "chunks", counter = true)
            long refusedDamaged,

            @Figure(
                    value = "Not promoted: their bytes at home, or their references, could not be read",
                    unit = "chunks",
                    counter = true)
            long refusedUnreadable,

            @Figure(value = "Not promoted: no file refers to them any more", unit = "chunks", counter = true)
            long refusedUnreferenced) {}

    /** What was removed from the SSD, and why. */
    public record Demotion(
            @Figure(value = "Chunks demoted since the volume was mounted", unit = "chunks", counter = true)
            long demotedChunks,

            @Figure(
                    value = "Chunks demoted because the settings changed or on request",
                    unit = "chunks",
                    counter = true,
                    name = "DemotedBySettings")
            long bySettings,

            @Figure(
                    value = "Chunks demoted to make room for chunks of more value",
                    unit = "chunks",
                    counter = true,
                    name = "DemotedBySpace")
            long bySpace,

            @Figure(
                    value = "Chunks demoted because no file refers to them any more",
                    unit = "chunks",
                    counter = true,
                    name = "DemotedUnreferenced")
            long unreferenced,

            @Figure(
                    value = "Chunks dropped because their record was damaged",
                    unit = "chunks",
                    counter = true,
                    name = "DemotedDamaged")
            long damaged,

            @Figure(value = "True while a sweep runs", unit = "true or false")
            boolean running,

            @Figure(value = "Entries that the sweep has examined", unit = "Map table entries")
            long examined,

            @Figure(value = "Entries that the sweep has to examine", unit = "Map table entries")
            long toExamine) {}

    /** The summary that {@code stats} shows. */
    public record Summary(
            String state,
            long offeredChunks,
            long waitingChunks,
            long refusedChunks,
            long promotedChunks,
            long promotedBytes,
            long readChunks,
            long unreadChunks,
            long ssdHits,
            long ssdBytes,
            long homeReads,
            long homeBytes,
            long memoryHits,
            long demotedChunks,
            boolean demotionRunning,
            long mapTableEntries,
            long mapTableHeapBytes,
            long lruListHeapBytes,
            long ssdUsedBytes,
            long ssdLiveBytes,
            long ssdCapacityBytes) {
        public static Summary of(HotChunks.Status status) {
            PromotionStatistics promotion = status.promotion();
            DistributorStatistics reads = status.distributor();
            return new Summary(
                    spelling(status.state()),
                    promotion.offered(),
                    promotion.waiting(),
                    promotion.allRefused(),
                    promotion.promoted(),
                    promotion.bytes(),
                    reads.chunks(),
                    reads.unread(),
                    reads.ssdHits(),
                    reads.ssdBytes(),
                    reads.homeReads(),
                    reads.homeBytes(),
                    reads.memoryHits(),
                    status.demotion().demoted(),
                    status.demotion().running(),
                    status.mapTableEntries(),
                    status.mapTableHeapBytes(),
                    status.lruHeapBytes(),
                    status.usedBytes(),
                    status.liveBytes(),
                    status.settings().capacityBytes());
        }
    }

    public static SarFigures of(HotChunks.Status status) {
        Path location = status.location();
        return new SarFigures(
                spelling(status.state()),
                status.reason(),
                location == null ? "" : location.toString(),
                SarSettings.parameters(status.settings()),
                new Space(status.settings().capacityBytes(), status.usedBytes(), status.liveBytes()),
                new Memory(
                        status.mapTableEntries(),
                        status.mapTableMaxEntries(),
                        status.mapTableHeapBytes(),
                        status.mapTableEntries() == 0
                                ? 0
                                : (double) status.mapTableHeapBytes() / status.mapTableEntries(),
                        status.lruItems(),
                        status.lruHits(),
                        status.lruHeapBytes()),
                of(status.promotion()),
                of(status.demotion()),
                status.distributor(),
                status.log());
    }

    private static Promotion of(PromotionStatistics promotion) {
        return new Promotion(
                promotion.offered(),
                promotion.promoted(),
                promotion.bytes(),
                promotion.byWrite(),
                promotion.byRead(),
                promotion.byRecipe(),
                promotion.queued(),
                promotion.remembered(),
                promotion.allRefused(),
                promotion.refused(Refusal.COUNT),
                promotion.refused(Refusal.RUN),
                promotion.refused(Refusal.PRESENT),
                promotion.refused(Refusal.RANK),
                promotion.refused(Refusal.TOO_LARGE),
                promotion.refused(Refusal.NO_ROOM),
                promotion.refused(Refusal.QUEUE),
                promotion.refused(Refusal.UNAVAILABLE),
                promotion.refused(Refusal.WRITE_FAILED),
                promotion.refused(Refusal.DAMAGED),
                promotion.refused(Refusal.UNREADABLE),
                promotion.refused(Refusal.UNREFERENCED));
    }

    private static Demotion of(DemotionStatistics demotion) {
        return new Demotion(
                demotion.demoted(),
                demotion.bySettings(),
                demotion.bySpace(),
                demotion.unreferenced(),
                demotion.damaged(),
                demotion.running(),
                demotion.examined(),
                demotion.toExamine());
    }

    /** Returns a state in lower case with a dash, such as {@code read-only}. */
    public static String spelling(SsdState state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
