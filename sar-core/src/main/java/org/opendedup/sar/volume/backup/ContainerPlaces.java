package org.opendedup.sar.volume.backup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.ContainerEntry;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.KeyValueStore;

/**
 * Matches the container table of older metadata to the packs. A collection may have moved containers since, and given
 * their old places back. Another writing of such a container is found in the packs by its id and salt. A generation
 * whose old place is gone was committed, and durable, before the old place was given back. The newest one need not be:
 * a crash may leave a footer on the disk without the frames. So the writing with most of the chunks is taken.
 *
 * <p>A place in which the container lies as the table says is kept, although there may be a later generation: it has
 * all chunks. But if some are known to be damaged there, a later generation may have them whole, from a pass of healing
 * after the backup: the newest one becomes a former place, which the next pass reads. Keeps in memory the ids of all
 * containers.
 */
final class ContainerPlaces {
    /**
     * The best writing of a container elsewhere.
     *
     * @param gone slots that are alive and that it does not have
     */
    private record Candidate(StoredContainer stored, BitSet gone) {
        boolean isBetterThan(@Nullable Candidate other) {
            if (other == null || gone.cardinality() != other.gone.cardinality()) {
                return other == null || gone.cardinality() < other.gone.cardinality();
            }
            return stored.writing().generation() > other.stored.writing().generation();
        }
    }

    private final ContainerRecords records;
    private final Directory data;
    private final Path dataFolder;
    /** Lengths of sealed containers by pack and offset: their frames need not be read. */
    private final Map<Long, Map<Long, Long>> lengths = new HashMap<>();

    private final Set<Long> presentPacks = new HashSet<>();
    private final Set<Long> inPlace = new HashSet<>();
    private final Map<Long, Candidate> elsewhere = new HashMap<>();
    /** The newest later writings of containers with damaged chunks. */
    private final Map<Long, StoredContainer> healed = new HashMap<>();

    private final Map<Long, BitSet> missing = new HashMap<>();
    private NewerContainers newer = NewerContainers.NONE;
    private long containers;
    private long moved;
    private long lost;
    private long highest;

    private ContainerPlaces(ContainerRecords records, Directory data, Path dataFolder) {
        this.records = records;
        this.data = data;
        this.dataFolder = dataFolder;
    }

    /** Corrects the table of a database, in one batch. */
    static ContainerPlaces correct(KeyValueStore database, Directory data, Path dataFolder) throws IOException {
        ContainerPlaces places = new ContainerPlaces(ContainerRecords.open(database), data, dataFolder);
        places.records.forEachEntry((container, entry) -> {
            if (entry != null && entry.stored().state() == State.SEALED) {
                StoredContainer stored = entry.stored();
                places.lengths
                        .computeIfAbsent(stored.pack(), pack -> new HashMap<>())
                        .put(stored.offset(), stored.bytes());
            }
        });
        for (long pack : PackReader.packs(data)) {
            places.presentPacks.add(pack);
            places.readPack(pack);
        }
        places.correct();
        return places;
    }

    /** Returns the slots that recipes may refer to and that no container has, by container. */
    Map<Long, BitSet> missing() {
        return missing;
    }

    NewerContainers newer() {
        return newer;
    }

    long containers() {
        return containers;
    }

    /** Returns the number of containers that were found in another place than the table said. */
    long moved() {
        return moved;
    }

    /** Returns the number of containers that were not found. */
    long lost() {
        return lost;
    }

    /** Returns the highest id in the table; 0 if it is empty. */
    long highest() {
        return highest;
    }

    private void readPack(long pack) throws IOException {
        long writtenNs = writtenNs(pack);
        Map<Long, Long> known = lengths.getOrDefault(pack, Map.of());
        try (PackReader reader = PackReader.open(data, pack)) {
            reader.forEach(offset -> known.getOrDefault(offset, 0L), found -> visit(found, pack, writtenNs));
        }
    }

    private void visit(FoundContainer found, long pack, long packNs) throws IOException {
        StoredContainer stored = found.stored();
        ContainerEntry entry = records.entry(found.container());
        if (entry == null) {
            newer = newer.plus(stored.bytes(), packNs);
            return;
        }
        StoredContainer named = entry.stored();
        if (named.pack() == pack
                && named.offset() == stored.offset()
                && named.writing().equals(stored.writing())) {
            inPlace.add(found.container());
            elsewhere.remove(found.container());
            return;
        }
        if (entry.damagedSlots() > 0
                && stored.state() == State.SEALED
                && stored.writing().salt() == named.writing().salt()
                && stored.writing().generation() > named.writing().generation()) {
            healed.merge(
                    found.container(),
                    stored,
                    (one, other) -> one.writing().generation() > other.writing().generation() ? one : other);
        }
        boolean isCandidate = stored.state() == State.SEALED
                && stored.writing().salt() == named.writing().salt()
                && stored.writing().generation() >= named.writing().generation()
                && !inPlace.contains(found.container());
        if (isCandidate) {
            BitSet gone = alive(found.container());
            gone.andNot(found.present());
            Candidate candidate = new Candidate(stored, gone);
            if (candidate.isBetterThan(elsewhere.get(found.container()))) {
                elsewhere.put(found.container(), candidate);
            }
        }
    }

    private long writtenNs(long pack) throws IOException {
        try {
            return Files.getLastModifiedTime(dataFolder.resolve(PackFormat.fileName(pack)))
                    .to(TimeUnit.NANOSECONDS);
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    private void correct() throws IOException {
        try (ContainerRecords.Replacement table = records.replace()) {
            records.forEachEntry((container, entry) -> {
                highest = Math.max(highest, container);
                if (entry == null) {
                    // Without its salt no writing in the packs can be told to be this container.
                    lose(container);
                    table.remove(container);
                    table.leaveOut(container);
                    return;
                }
                containers++;
                Candidate candidate = elsewhere.get(container);
                if (inPlace.contains(container)) {
                    table.put(container, entry.stored(), new BitSet());
                    StoredContainer later = healed.get(container);
                    if (later != null) {
                        table.addFormer(container, later);
                    }
                } else if (candidate != null) {
                    moved++;
                    note(container, candidate.gone());
                    table.put(container, candidate.stored(), candidate.gone());
                } else {
                    lose(container);
                    // A pack that is absent may come back, and marks would stay.
                    boolean isGone = presentPacks.contains(entry.stored().pack());
                    table.put(container, entry.stored(), isGone ? alive(container) : new BitSet());
                }
            });
            table.commit();
        }
    }

    private void lose(long container) throws IOException {
        lost++;
        note(container, alive(container));
    }

    private void note(long container, BitSet gone) {
        if (!gone.isEmpty()) {
            missing.put(container, gone);
        }
    }

    private BitSet alive(long container) throws IOException {
        var counts = records.counts(container);
        BitSet alive = new BitSet();
        for (int slot = 0; counts != null && slot < counts.slots(); slot++) {
            alive.set(slot, counts.isAlive(slot));
        }
        return alive;
    }
}
