package org.opendedup.sar.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.MetadataHeader.Contents;

/**
 * Makes the container table anew from the packs and the counts, whatever is left of the old table. Changes only the
 * metadata, in one atomic step; no pack is written to.
 *
 * <p>The counts say which containers there must be, and which of their slots. Of several places with one container, the
 * one is taken from which most of these chunks can be read, then the newest generation: after a crash, a newer
 * generation may not be whole. What has the same id and other chunks is of another history. An entry of the old table
 * is only a hint where to look; it stays if its container cannot be found and nothing else lies in its place.
 *
 * <p>Memory: about 150 bytes for each container, and up to 64 MiB. If it is unknown when the data location was last
 * used, for instance after the restore of a backup from an earlier mount, each container may be of another history:
 * then the frames of all of them are read, and the recipes once for each 16 million slots. A volume of chunks has no
 * recipes: only the lengths of its chunks show there that a container is of another history.
 */
public final class TableRebuild {
    /**
     * What was done.
     *
     * @param containers entries that the table has now
     * @param kept how many of these are of containers that were not found: their old entries stay
     * @param notFound containers with counts of which neither an entry nor a place was found
     * @param missingChunks chunks that are alive and not in their containers
     * @param strays containers in the packs that the table does not name: unknown to the counts, older generations, or
     *     of another history of the volume
     * @param foreign how many of the strays have an id of this volume and other chunks
     * @param unreadablePacks packs of which a part could not be read: what was not found may be there, so nothing was
     *     marked as lost
     * @param changes records of the metadata that differed and were written; 0 if the table was right
     */
    public record Report(
            long containers,
            long kept,
            long notFound,
            long missingChunks,
            long strays,
            long foreign,
            long unreadablePacks,
            long changes) {}

    /** A place where a container lies. */
    private record Candidate(long container, StoredContainer stored, BitSet missing) {}

    /** Slots whose fingerprint prefixes are in memory at a time, 4 bytes each. */
    private static final int SLOTS_PER_PASS = 1 << 24;

    private static final BitSet NONE = new BitSet(0);

    private final PackFolder data;
    private final ContainerRecords records;
    private final Progress progress;
    /** Containers from this id on may be of another history. */
    private final long sharedBelow;

    private final EntriesByPack entries;
    private final Set<Long> presentPacks = new HashSet<>();
    /** Packs of which a part could not be read. */
    private final Set<Long> unreadable = new HashSet<>();

    private final List<Candidate> candidates = new ArrayList<>();
    /** Entries of containers without counts, which lie where the table says. */
    private final List<ContainerEntry> uncounted = new ArrayList<>();

    private final long slotsPerPass;
    private ExpectedPrefixes prefixes = new ExpectedPrefixes();
    private long strays;
    private long foreign;
    private long kept;
    private long notFound;
    private long missingChunks;

    /** @param found the epoch in which the data location was last used */
    public TableRebuild(PackFolder data, ContainerRecords records, Epoch found, Progress progress) throws IOException {
        this(data, records, found, progress, SLOTS_PER_PASS);
    }

    /** @param slotsPerPass after how many slots of doubtful containers the recipes are read again */
    public TableRebuild(PackFolder data, ContainerRecords records, Epoch found, Progress progress, long slotsPerPass)
            throws IOException {
        this.slotsPerPass = slotsPerPass;
        this.data = data;
        this.records = records;
        this.progress = progress;
        sharedBelow = records.timeline().sharedBelow(found);
        entries = new EntriesByPack(records);
    }

    /** Makes the table anew. A crash leaves the old table or the new one. */
    public Report run() throws IOException {
        records.forEachEntry((container, entry) -> {
            if (entry != null) {
                entries.add(entry);
            }
        });
        long[] packs = data.packs();
        for (int i = 0; i < packs.length; i++) {
            progress.at("packs", i, packs.length);
            presentPacks.add(packs[i]);
            scan(packs[i]);
        }
        candidates.sort(Comparator.comparingLong(Candidate::container));
        Map<Long, Candidate> chosen = choose();
        return write(chosen);
    }

    private void scan(long pack) throws IOException {
        Map<Long, Long> lengths = new HashMap<>();
        for (ContainerEntry entry : entries.of(pack)) {
            if (entry.stored().state() == State.SEALED) {
                lengths.put(entry.stored().offset(), entry.stored().bytes());
            }
        }
        try (PackReader reader = data.open(pack)) {
            reader.forEach(offset -> lengths.getOrDefault(offset, 0L), this::found);
            if (reader.hasUnreadable()) {
                unreadable.add(pack);
            }
        }
    }

    private void found(FoundContainer found) throws IOException {
        ContainerCounts counts;
        try {
            counts = records.counts(found.container());
        } catch (CorruptionException | UnsupportedFormatException e) {
            // What is alive is not known: all of it may be.
            candidates.add(new Candidate(found.container(), found.stored(), NONE));
            return;
        }
        if (counts == null) {
            ContainerEntry entry = records.entry(found.container());
            if (entry != null && isInPlace(entry.stored(), found.stored())) {
                uncounted.add(entry);
            } else {
                strays++;
            }
        } else if (Chunks.contradicts(counts, found)) {
            strays++;
            foreign++;
        } else {
            BitSet missing = Chunks.missing(counts, found);
            candidates.add(new Candidate(found.container(), found.stored(), missing.isEmpty() ? NONE : missing));
        }
    }

    private static boolean isInPlace(StoredContainer named, StoredContainer found) {
        return named.isAt(found) && named.writing().equals(found.writing());
    }

    /**
     * Returns whether the lengths of chunks alone do not tell that a container is ours.
     *
     * @param places all candidates for it
     */
    private boolean isDoubtful(List<Candidate> places) {
        long salt = places.get(0).stored().writing().salt();
        return places.get(0).container() >= sharedBelow
                || places.stream().anyMatch(place -> place.stored().writing().salt() != salt);
    }

    /** Reads the references to as many doubtful containers, from this candidate on, as memory allows; at least one. */
    private void loadPrefixes(int from) throws IOException {
        Map<Long, Integer> slots = new HashMap<>();
        long total = 0;
        for (int first = from; first < candidates.size() && (total == 0 || total < slotsPerPass); ) {
            int end = endOfPlaces(first);
            List<Candidate> places = candidates.subList(first, end);
            if (isDoubtful(places)) {
                int most = places.stream()
                        .mapToInt(place -> place.stored().slots())
                        .max()
                        .orElse(0);
                slots.put(places.get(0).container(), most);
                total += most;
            }
            first = end;
        }
        prefixes = ExpectedPrefixes.read(records, slots);
    }

    /** Returns the index after the last candidate for the container of the candidate {@code first}. */
    private int endOfPlaces(int first) {
        int end = first + 1;
        while (end < candidates.size()
                && candidates.get(end).container() == candidates.get(first).container()) {
            end++;
        }
        return end;
    }

    /** Returns the place of each container. */
    private Map<Long, Candidate> choose() throws IOException {
        Map<Long, Candidate> chosen = new HashMap<>();
        for (int first = 0; first < candidates.size(); ) {
            long container = candidates.get(first).container();
            int end = endOfPlaces(first);
            List<Candidate> places = candidates.subList(first, end);
            if (isDoubtful(places) && !prefixes.has(container)) {
                loadPrefixes(first);
            }
            Candidate best = best(places);
            boolean isChosen = best != null && !isWorseThanAbsentPack(best) && !isWorseThanUnreadable(best);
            if (isChosen) {
                chosen.put(container, best);
            }
            strays += end - first - (isChosen ? 1 : 0);
            first = end;
        }
        return chosen;
    }

    /**
     * Returns whether the entry names a later writing in a pack that is absent, and the candidate lacks chunks: the
     * pack may come back, and then nothing is lost.
     */
    private boolean isWorseThanAbsentPack(Candidate candidate) throws IOException {
        ContainerEntry entry = records.entry(candidate.container());
        return entry != null
                && !candidate.missing().isEmpty()
                && !presentPacks.contains(entry.stored().pack())
                && entry.stored().writing().generation()
                        > candidate.stored().writing().generation();
    }

    /**
     * Returns whether a part of the pack that the entry names could not be read, and the candidate is not whole or is
     * what could be read there: the entry says more.
     */
    private boolean isWorseThanUnreadable(Candidate candidate) throws IOException {
        ContainerEntry entry = records.entry(candidate.container());
        return entry != null
                && unreadable.contains(entry.stored().pack())
                && (!candidate.missing().isEmpty() || isInPlace(entry.stored(), candidate.stored()));
    }

    private @Nullable Candidate best(List<Candidate> places) throws IOException {
        if (places.size() == 1 && !isDoubtful(places)) {
            return places.get(0);
        }
        List<Candidate> ours = new ArrayList<>();
        for (Candidate place : places) {
            Candidate read = read(place);
            if (read != null) {
                ours.add(read);
            }
        }
        foreign += places.size() - ours.size();
        return ours.stream()
                .min(Comparator.<Candidate>comparingInt(place -> place.missing().cardinality())
                        .thenComparing(Comparator.<Candidate>comparingInt(
                                        place -> place.stored().writing().generation())
                                .reversed())
                        .thenComparing(place -> place.stored().state() == State.OPEN)
                        .thenComparing(Comparator.<Candidate>comparingLong(
                                        place -> place.stored().pack())
                                .reversed()))
                .orElse(null);
    }

    /**
     * Reads all frames of a candidate.
     *
     * @return the candidate with the chunks that are missing in frames that are whole; null if it has other chunks than
     *     the recipes refer to
     */
    private @Nullable Candidate read(Candidate place) throws IOException {
        StoredContainer stored = place.stored();
        FoundContainer found;
        try (PackReader reader = data.open(stored.pack())) {
            found = reader.whole(stored.offset(), Long.MAX_VALUE);
            if (reader.hasUnreadable()) {
                unreadable.add(stored.pack());
            }
        }
        if (found == null || prefixes.contradict(found)) {
            return null;
        }
        BitSet missing = place.missing();
        try {
            ContainerCounts counts = records.counts(place.container());
            missing = counts == null ? NONE : Chunks.missing(counts, found);
        } catch (CorruptionException | UnsupportedFormatException e) {
            // As before: nothing is known to be missing.
        }
        return new Candidate(place.container(), found.stored(), missing);
    }

    private Report write(Map<Long, Candidate> chosen) throws IOException {
        try (ContainerRecords.Replacement table = records.replace()) {
            long done = 0;
            for (Candidate place : chosen.values()) {
                progress.at("entries", done++, chosen.size());
                BitSet missing = unreadable.isEmpty() ? place.missing() : NONE;
                table.put(place.container(), withOldUse(place), missing);
                missingChunks += missing.cardinality();
            }
            long containers = chosen.size();
            Set<Long> keptIds = new HashSet<>();
            Places taken = new Places(chosen.values());
            records.forEachCounted((container, counts) -> {
                if (chosen.containsKey(container)) {
                    return;
                }
                ContainerEntry old = records.entry(container);
                if (old != null && taken.isFree(old.stored())) {
                    taken.add(old.stored());
                    table.put(container, old.stored(), NONE);
                    keptIds.add(container);
                } else {
                    if (unreadable.isEmpty()) {
                        table.leaveOut(container);
                    }
                    notFound++;
                }
            });
            kept = keptIds.size();
            for (ContainerEntry entry : uncountedInUse()) {
                // A repair makes its counts anew, and needs the directory for that.
                if (taken.isFree(entry.stored())) {
                    taken.add(entry.stored());
                    table.keep(entry);
                    keptIds.add(entry.container());
                    containers++;
                }
            }
            records.forEachEntry((container, entry) -> {
                if (!chosen.containsKey(container) && !keptIds.contains(container)) {
                    table.remove(container);
                }
            });
            long changes = table.commit();
            return new Report(
                    containers + kept, kept, notFound, missingChunks, strays, foreign, unreadable.size(), changes);
        }
    }

    /**
     * Returns the entries without counts of containers that recipes refer to; all of them if a page is damaged, or in a
     * volume of chunks, whose client may refer to them.
     */
    private List<ContainerEntry> uncountedInUse() throws IOException {
        if (uncounted.isEmpty() || records.header().contents() == Contents.CHUNKS) {
            return uncounted;
        }
        Set<Long> inUse = new HashSet<>();
        uncounted.forEach(entry -> inUse.add(entry.container()));
        Set<Long> referred = new HashSet<>();
        boolean areAllWhole = records.forEachReference((chunk, prefix) -> {
            long container = ChunkId.container(chunk);
            if (inUse.contains(container)) {
                referred.add(container);
            }
        });
        if (areAllWhole) {
            inUse.retainAll(referred);
        }
        List<ContainerEntry> kept = uncounted.stream()
                .filter(entry -> inUse.contains(entry.container()))
                .toList();
        strays += uncounted.size() - kept.size();
        return kept;
    }

    /**
     * Returns what the table says of a place. If the old entry names the same writing in the same place, its level of
     * compression stays, which only an entry has. So do the bytes of its chunks, if some are damaged: those that a
     * collection found unused in a damaged frame do not count.
     */
    private StoredContainer withOldUse(Candidate place) throws IOException {
        StoredContainer found = place.stored();
        ContainerEntry old = records.entry(place.container());
        if (old == null || !isInPlace(old.stored(), found) || old.stored().bytes() != found.bytes()) {
            return found;
        }
        long rawBytes = old.stored().rawBytes();
        boolean staysReduced = old.damagedSlots() > 0 && old.liveBytes() <= rawBytes && rawBytes <= found.rawBytes();
        return new StoredContainer(
                found.writing(),
                found.state(),
                found.pack(),
                found.offset(),
                found.bytes(),
                found.slots(),
                staysReduced ? rawBytes : found.rawBytes(),
                old.stored().recompressed());
    }

    /** The places that are taken, by pack. */
    private static final class Places {
        private final Map<Long, List<StoredContainer>> byPack = new HashMap<>();

        Places(Iterable<Candidate> chosen) {
            for (Candidate place : chosen) {
                add(place.stored());
            }
        }

        void add(StoredContainer taken) {
            byPack.computeIfAbsent(taken.pack(), none -> new ArrayList<>()).add(taken);
        }

        boolean isFree(StoredContainer wanted) {
            return wanted.offset() >= PackFormat.FIRST_CONTAINER
                    && wanted.offset() % PackFormat.ALIGNMENT == 0
                    && byPack.getOrDefault(wanted.pack(), List.of()).stream()
                            .noneMatch(taken -> taken.offset() < wanted.offset() + wanted.bytes()
                                    && wanted.offset() < PackFormat.align(taken.offset() + taken.bytes()));
        }
    }
}
