package org.opendedup.sar.volume.backup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.EpochHistory;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;

/**
 * Matches the container table of older metadata to the packs. A collection may have moved containers since, and given
 * their old places back, or begun to: a power cut may leave any part of an old place, and of a new one. So each place
 * in which a writing of a container lies is a candidate, also the one that the table names, and the one that lacks the
 * fewest live chunks is taken; of several of these, the one in the table, then the newest. A place that has what the
 * taken one lacks becomes a former place, from which healing takes it; so does one in a pack that is absent.
 *
 * <p>A place that the table names and that has a whole directory is read only if there is another. Keeps in memory the
 * ids of all containers.
 */
final class ContainerPlaces {
    /**
     * A place in which a writing of a container lies.
     *
     * @param gone slots that are alive and that it does not have
     * @param doubtful slots that are known to be damaged there, also if nothing is wrong with their frames
     * @param isNamed whether the table names this place
     */
    private record Candidate(StoredContainer stored, BitSet gone, BitSet doubtful, boolean isNamed) {
        BitSet missing() {
            BitSet missing = (BitSet) gone.clone();
            missing.or(doubtful);
            return missing;
        }

        /** Returns whether it has a chunk that another one lacks. */
        boolean helps(Candidate other) {
            BitSet found = other.missing();
            found.andNot(missing());
            return !found.isEmpty();
        }
    }

    private static final Comparator<Candidate> BEST_FIRST = Comparator.<Candidate>comparingInt(
                    place -> place.missing().cardinality())
            .thenComparing(place -> !place.isNamed())
            .thenComparing(place -> place.stored().state() == State.OPEN)
            .thenComparing(place -> place.stored().writing().generation(), Comparator.reverseOrder());

    private final ContainerRecords records;
    /** Containers with lower ids are older than the database, also if it does not know them. */
    private final long firstNewer;

    private final PackFolder data;
    private final Path dataFolder;
    /** Lengths of sealed containers by pack and offset: their frames need not be read. */
    private final Map<Long, Map<Long, Long>> lengths = new HashMap<>();

    private final Set<Long> presentPacks = new HashSet<>();
    /** Packs of which a part could not be read: what was not found may be there. */
    private final Set<Long> unreadable = new HashSet<>();
    /** Containers that lie as the table says, as far as their directories tell. */
    private final Set<Long> inPlace = new HashSet<>();
    /** All other places, by container. */
    private final Map<Long, List<Candidate>> elsewhere = new HashMap<>();

    private final Map<Long, BitSet> missing = new HashMap<>();
    private NewerContainers newer = NewerContainers.NONE;
    private long containers;
    private long moved;
    private long lost;
    private long highest;
    private long highestInPacks;

    private ContainerPlaces(ContainerRecords records, long firstNewer, PackFolder data, Path dataFolder) {
        this.records = records;
        this.firstNewer = firstNewer;
        this.data = data;
        this.dataFolder = dataFolder;
    }

    /** Corrects the table of a database, in one batch. */
    static ContainerPlaces correct(KeyValueStore database, UUID volume, PackFolder data, Path dataFolder)
            throws IOException {
        ContainerPlaces places = new ContainerPlaces(
                ContainerRecords.open(database),
                EpochHistory.open(database, volume).firstContainer(),
                data,
                dataFolder);
        places.records.forEachEntry((container, entry) -> {
            if (entry != null && entry.stored().state() == State.SEALED) {
                StoredContainer stored = entry.stored();
                places.lengths
                        .computeIfAbsent(stored.pack(), pack -> new HashMap<>())
                        .put(stored.offset(), stored.bytes());
            }
        });
        for (long pack : data.packs()) {
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

    /** Returns the number of packs of which a part could not be read: nothing was marked as lost then. */
    int unreadablePacks() {
        return unreadable.size();
    }

    /**
     * Returns the id from which on containers are of another history than the table. The number of a pack is higher
     * than the ids in it: if the packs have nothing that the table lacks, they are all of this history, and so is the
     * fingerprint index, which alone knows what containers had whose packs are lost.
     */
    long firstUnknown() {
        boolean areAllKnown = newer.containers() == 0 && unreadable.isEmpty();
        long highestPack = areAllKnown
                ? presentPacks.stream().mapToLong(Long::longValue).max().orElse(0)
                : 0;
        return Math.max(highest, highestPack) + 1;
    }

    /** Returns the highest id that a container in a pack has, in the table or not; 0 if there is none. */
    long highestInPacks() {
        return highestInPacks;
    }

    private void readPack(long pack) throws IOException {
        long writtenNs = writtenNs(pack);
        Map<Long, Long> known = lengths.getOrDefault(pack, Map.of());
        try (PackReader reader = data.open(pack)) {
            reader.forEach(offset -> known.getOrDefault(offset, 0L), found -> visit(found, writtenNs));
            noteUnreadable(reader, pack);
        }
    }

    private void noteUnreadable(PackReader reader, long pack) {
        if (reader.hasUnreadable()) {
            unreadable.add(pack);
        }
    }

    private void visit(FoundContainer found, long packNs) throws IOException {
        highestInPacks = Math.max(highestInPacks, found.container());
        StoredContainer stored = found.stored();
        ContainerEntry entry = records.entry(found.container());
        if (entry == null) {
            // An earlier restore leaves the containers of the database that it replaced. Each mount allocates ids above
            // all that the packs have.
            if (found.container() >= firstNewer) {
                newer = newer.plus(stored.bytes(), packNs);
            }
            return;
        }
        Candidate candidate = candidate(entry, found);
        if (candidate == null) {
            return;
        }
        if (candidate.isNamed() && candidate.missing().isEmpty()) {
            inPlace.add(found.container());
        } else {
            elsewhere
                    .computeIfAbsent(found.container(), container -> new ArrayList<>())
                    .add(candidate);
        }
    }

    /** Returns a place of a container; null if another container of the same id lies there. */
    private @Nullable Candidate candidate(ContainerEntry entry, FoundContainer found) throws IOException {
        StoredContainer named = entry.stored();
        StoredContainer stored = found.stored();
        if (stored.writing().salt() != named.writing().salt()) {
            return null;
        }
        boolean isNamed = named.isAt(stored) && named.writing().equals(stored.writing());
        // An open one may have grown since. Of one that is given back in part, the frames are what is left.
        boolean isAsNamed = isNamed && (named.state() == State.OPEN || stored.state() == State.SEALED);
        ContainerCounts counts = records.counts(entry.container());
        BitSet gone = alive(counts);
        BitSet doubtful = new BitSet();
        if (isNamed && counts != null) {
            gone.stream().filter(counts::isDamaged).forEach(doubtful::set);
        }
        gone.andNot(found.present());
        return new Candidate(isAsNamed ? named : stored, gone, doubtful, isNamed);
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
                List<Candidate> places = places(entry);
                if (places.isEmpty() && inPlace.contains(container)) {
                    table.put(container, entry.stored(), new BitSet());
                } else if (places.isEmpty()) {
                    lose(container);
                    // A pack that is absent may come back, a block may be readable again, and marks would stay.
                    boolean isGone = unreadable.isEmpty()
                            && presentPacks.contains(entry.stored().pack());
                    table.put(container, entry.stored(), isGone ? alive(container) : new BitSet());
                } else if (isKept(entry, places.get(0))) {
                    note(container, places.get(0).gone());
                    table.put(container, entry.stored(), new BitSet());
                } else {
                    take(entry, places, table);
                }
            });
            table.commit();
        }
    }

    /**
     * Returns whether the place stays that the table names: a part of its pack could not be read, and the best place is
     * not whole, or is what could be read there.
     */
    private boolean isKept(ContainerEntry entry, Candidate best) {
        return unreadable.contains(entry.stored().pack()) && (!best.missing().isEmpty() || best.isNamed());
    }

    /**
     * Returns the places of a container, the best one first; none if it lies where the table says, and nowhere else.
     */
    private List<Candidate> places(ContainerEntry entry) throws IOException {
        List<Candidate> places = elsewhere.getOrDefault(entry.container(), List.of());
        boolean isHere = inPlace.contains(entry.container());
        if (places.size() + (isHere ? 1 : 0) < 2) {
            return places;
        }
        List<Candidate> read = new ArrayList<>(places);
        if (read.removeIf(Candidate::isNamed) || isHere) {
            Candidate here = readInPlace(entry);
            if (here != null) {
                read.add(here);
            }
        }
        read.sort(BEST_FIRST);
        return read;
    }

    private @Nullable Candidate readInPlace(ContainerEntry entry) throws IOException {
        StoredContainer named = entry.stored();
        try (PackReader reader = data.open(named.pack())) {
            FoundContainer found = reader.whole(named.offset(), named.bytes());
            noteUnreadable(reader, named.pack());
            return found == null || found.container() != entry.container() ? null : candidate(entry, found);
        }
    }

    private void take(ContainerEntry entry, List<Candidate> places, ContainerRecords.Replacement table)
            throws IOException {
        long container = entry.container();
        Candidate best = places.get(0);
        moved += best.isNamed() ? 0 : 1;
        note(container, best.gone());
        table.put(container, best.stored(), unreadable.isEmpty() ? best.gone() : new BitSet());
        if (!best.gone().isEmpty() && !presentPacks.contains(entry.stored().pack())) {
            table.addFormer(container, entry.stored());
        }
        // Of those with the same generation the best one is recorded.
        for (int place = places.size() - 1; place > 0; place--) {
            if (places.get(place).helps(best)) {
                table.addFormer(container, places.get(place).stored());
            }
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
        return alive(records.counts(container));
    }

    private static BitSet alive(@Nullable ContainerCounts counts) {
        BitSet alive = new BitSet();
        for (int slot = 0; counts != null && slot < counts.slots(); slot++) {
            alive.set(slot, counts.isAlive(slot));
        }
        return alive;
    }
}
