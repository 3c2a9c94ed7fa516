package org.opendedup.sar.volume.chunks;

import com.carrotsearch.hppc.LongArrayList;
import com.carrotsearch.hppc.cursors.LongCursor;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.BitSet;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.opendedup.sar.collect.Commits;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the counts of a volume of chunks into line with the maps of its client, while the volume is in use: a copy
 * that no map names gets the count 0, and one that a map names has at least 1. Takes one bit of memory for each copy;
 * if that is too much, goes over the maps several times, each time for a part of the containers. For one thread.
 *
 * <p>A reference may be on its way: the chunk is put, and the map is not written. Its copy gets the count 0 as well,
 * which makes it recently unreferenced: it is kept until a later recount, which finds the reference in its map.
 */
public final class ClientRecount implements SpaceCollector.Basis {
    private static final Logger log = LoggerFactory.getLogger(ClientRecount.class);

    /** Heap for the set of a container, in bytes, without its bits. */
    private static final int SET_BYTES = 136;

    /** Containers whose counts change in one commit at most. */
    private static final int BATCH = 256;

    /** Bits of the number of a reference that are 0 when the recount asks whether it may go on: at each 4096th. */
    private static final int ASKED = 0xfff;

    private final RecentlyUnreferenced recent;
    private final ClientReferences client;
    private final MetadataStore metadata;
    private final ReferenceCounts counts;
    private final Commits commits;
    private final Copies copies;
    private final long memoryBytes;

    /** The containers of this pass: ids from {@code from} to before {@code end}. */
    private long from;

    private long end;
    /** Slots that maps name, by container. */
    private final TreeMap<Long, BitSet> named = new TreeMap<>();

    private long namedBytes;
    private long references;

    /**
     * Leads from contents to copies.
     *
     * @param isDamaged whether the bytes of a copy cannot be read
     * @param isIndexUpdated whether the index lacks contents at the moment
     */
    public record Copies(LongPredicate isDamaged, Look look, BooleanSupplier isIndexUpdated) {
        /** Asks the index. */
        @FunctionalInterface
        public interface Look {
            /** Returns a copy of a content; {@link ChunkId#NONE} if there is none. */
            long up(byte[] fingerprint) throws IOException;
        }
    }

    /**
     * @param recent the copies that collections keep
     * @param memoryBytes for what maps name
     */
    public ClientRecount(
            RecentlyUnreferenced recent,
            ClientReferences client,
            MetadataStore metadata,
            Commits commits,
            Copies copies,
            long memoryBytes) {
        this.recent = recent;
        this.client = client;
        this.metadata = metadata;
        counts = metadata.counts();
        this.commits = commits;
        this.copies = copies;
        this.memoryBytes = memoryBytes;
    }

    /** Does the recount that a collection needs, if any. A failure leaves the counts as they were, or partly better. */
    @Override
    public void begin(BooleanSupplier goesOn) throws IOException {
        if (recent.beginCollection()) {
            run(goesOn);
            recent.recounted();
        }
    }

    @Override
    public void end() {
        recent.endCollection();
        named.clear();
    }

    private void run(BooleanSupplier goesOn) throws IOException {
        // What is stored from now on has no map yet: its counts stay.
        long firstNew = metadata.firstFreeContainer();
        commits.commit();
        long changed = 0;
        for (from = 0; from < firstNew; from = end) {
            end = firstNew;
            named.clear();
            namedBytes = 0;
            references = 0;
            client.visit((fingerprint, location, length) -> {
                if ((references++ & ASKED) == 0) {
                    require(goesOn);
                }
                name(fingerprint, location, length);
            });
            requireReferences();
            changed += apply(goesOn);
        }
        log.info("the maps have {} references; the counts of {} chunks were brought into line", references, changed);
    }

    private static void require(BooleanSupplier goesOn) throws InterruptedIOException {
        if (!goesOn.getAsBoolean()) {
            throw new InterruptedIOException("the garbage collection was stopped");
        }
    }

    /** An empty folder is more likely a disk that is not mounted than the end of all files. */
    private void requireReferences() throws IOException {
        var stored = metadata.totals().stored();
        long referenced = stored.chunks() - stored.garbageChunks();
        if (references == 0 && referenced > 0) {
            throw new IOException("the maps of files name no chunk, and " + referenced + " have references. If a disk"
                    + " with the maps is not mounted, mount it. If all files are deleted, write one");
        }
    }

    private void name(byte[] fingerprint, long location, int length) throws IOException {
        boolean isLocation = location >= ChunkVolume.FIRST_LOCATION;
        int stored = isLocation ? counts.length(location) : 0;
        if (stored > 0) {
            name(location);
        }
        if (stored != length || stored == 0 || copies.isDamaged.test(location)) {
            // There is another chunk, or none that can be read: a reader takes the copy to which the index leads.
            long other = copies.look.up(fingerprint);
            if (other == ChunkId.NONE && isLocation && copies.isIndexUpdated.getAsBoolean()) {
                throw new IOException("the fingerprint index is being brought up to date, and the maps of files name"
                        + " chunks that only it finds. Collect when that is done");
            }
            name(other);
        }
    }

    private void name(long copy) {
        long container = ChunkId.container(copy);
        if (copy == ChunkId.NONE || container < from || container >= end) {
            return;
        }
        BitSet slots = named.get(container);
        if (slots == null) {
            slots = new BitSet();
            named.put(container, slots);
            namedBytes += SET_BYTES;
        }
        int before = slots.size();
        slots.set(ChunkId.slot(copy));
        namedBytes += (slots.size() - before) / Byte.SIZE;
        while (namedBytes > memoryBytes && named.size() > 1) {
            var last = named.pollLastEntry();
            end = last.getKey();
            namedBytes -= SET_BYTES + last.getValue().size() / Byte.SIZE;
        }
    }

    /** @return copies whose counts were changed */
    private long apply(BooleanSupplier goesOn) throws IOException {
        BitSet none = new BitSet(0);
        long changed = 0;
        LongArrayList containers = counts.committed(from, BATCH);
        while (!containers.isEmpty() && containers.get(0) < end) {
            long before = changed;
            for (LongCursor container : containers) {
                if (container.value < end) {
                    require(goesOn);
                    changed += recount(container.value, named.getOrDefault(container.value, none));
                }
            }
            if (changed > before) {
                commits.commit();
            }
            containers = counts.committed(containers.get(containers.size() - 1) + 1, BATCH);
        }
        return changed;
    }

    private int recount(long container, BitSet slots) throws IOException {
        // Reads the record before the lock: a thread that waits for the disk while it holds the lock makes others wait.
        counts.slots(container);
        commits.changes().lock();
        try {
            return counts.recount(container, slots);
        } finally {
            commits.changes().unlock();
        }
    }
}
