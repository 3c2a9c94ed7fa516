package org.opendedup.sar.check;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.StoredCopies;

/**
 * Compares the container table with the packs and with the counts, pack by pack in the order of the disk. Reads footer
 * and directory of each container, and the frames of open ones only.
 */
final class ContainerCheck {
    /** Space of a pack, in bytes, that may belong to no container: its header, and the ends of blocks. */
    private static final long TOLERATED_BYTES = 128 << 10;

    private final PackFolder data;
    private final ContainerRecords records;
    private final Mend mend;
    private final FindingList findings;
    private final LostChunks lost;
    private final EntriesByPack entries;
    private final @Nullable PresentContainers present;
    private final Set<Long> damagedEntries = new HashSet<>();
    /** Bytes of the places from which containers were healed and that are still of use, by pack. */
    private final Map<Long, Long> formerBytes = new HashMap<>();
    /** Places in which containers of a volume in use were checked a second time. */
    private final Set<StoredContainer> rechecked = new HashSet<>();

    private long strayBytes;
    private long strayPacks;

    /** @param present null if the volume is not in use */
    ContainerCheck(
            PackFolder data,
            ContainerRecords records,
            Mend mend,
            FindingList findings,
            LostChunks lost,
            @Nullable PresentContainers present) {
        this.present = present;
        this.data = data;
        this.records = records;
        this.mend = mend;
        this.findings = findings;
        this.lost = lost;
        entries = new EntriesByPack(records);
    }

    /** Returns the number of containers in the table. */
    long containers() {
        return entries.entries();
    }

    /** Returns whether a record of the table cannot be decoded, so that nothing can read the table as a whole. */
    boolean hasDamagedEntries() {
        return !damagedEntries.isEmpty();
    }

    void run(Progress progress) throws IOException {
        readTable();
        Set<Long> present = new TreeSet<>();
        for (long pack : data.packs()) {
            present.add(pack);
        }
        Set<Long> all = new TreeSet<>(present);
        all.addAll(entries.packs());
        long done = 0;
        for (long pack : all) {
            progress.at("packs", done++, all.size());
            checkPack(pack, entries.of(pack));
        }
        checkCounted();
        if (strayBytes > 0) {
            findings.add(
                    Severity.NOTE,
                    Kind.STRAYS,
                    strayBytes + " bytes in " + strayPacks + (strayPacks == 1 ? " pack" : " packs")
                            + " belong to no container; a crash or a failed write left them");
        }
    }

    private void readTable() throws IOException {
        ContainerRecords.Sum sum = new ContainerRecords.Sum();
        records.forEachEntry((container, entry) -> {
            if (entry == null) {
                damagedEntries.add(container);
                int finding = findings.add(
                        Severity.LOSS,
                        Kind.DAMAGED_ENTRY,
                        "the record of container " + container
                                + " in the container table is damaged, so nothing can be read from it");
                findings.container(finding, container);
                lost.addContainer(finding, container);
            } else {
                entries.add(entry);
                sum.add(entry);
            }
        });
        records.forEachFormer(
                (container, place) -> formerBytes.merge(place.pack(), PackFormat.align(place.bytes()), Long::sum));
        String problem = records.summaryProblem(sum);
        if (problem != null) {
            findings.add(Severity.DEFECT, Kind.SUMMARY, "the totals of the container table are wrong: " + problem);
        }
    }

    private void checkPack(long pack, List<ContainerEntry> contents) throws IOException {
        try (PackReader reader = data.open(pack)) {
            if (!contents.isEmpty()) {
                checkHeader(reader, pack);
            }
            Set<ContainerEntry> cut = cutOff(reader, contents);
            if (!cut.isEmpty()) {
                missingPack(pack, cut, "has only " + reader.length() + " bytes, it is cut short");
            }
            PlaceCheck.run(contents, reader.length(), (entry, problem) -> {
                if (cut.contains(entry) || isMoved(entry)) {
                    return;
                }
                int finding = findings.add(Severity.DEFECT, Kind.WRONG_ENTRY, PlaceCheck.name(entry) + " " + problem);
                findings.container(finding, entry.container());
            });
            long named = 0;
            for (ContainerEntry entry : contents) {
                checkUse(entry);
                if (!cut.contains(entry)) {
                    check(reader, entry);
                }
                named += PackFormat.align(entry.stored().bytes());
            }
            if (present != null) {
                return; // Packs of a volume in use have space reserved for what is written next.
            }
            named += formerBytes.getOrDefault(pack, 0L);
            String name = PackFormat.fileName(pack);
            long strays = data.directory().allocatedBytes(name) - named - TOLERATED_BYTES;
            // Of an object, a collection returns all or nothing.
            if (strays > 0 && (named == 0 || data.directory().freesRanges(name))) {
                strayBytes += strays;
                strayPacks++;
            }
        } catch (NoSuchFileException e) {
            missingPack(pack, contents, "is missing");
        } catch (UnsupportedFormatException e) {
            throw e;
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            missingPack(pack, contents, "cannot be read (" + e.getMessage() + ")");
        }
    }

    /**
     * Returns the sealed containers of which the end is cut off with that of their pack. A container that is whole
     * there has a wrong entry instead.
     */
    private static Set<ContainerEntry> cutOff(PackReader reader, List<ContainerEntry> contents) throws IOException {
        Set<ContainerEntry> cut = new LinkedHashSet<>();
        for (ContainerEntry entry : contents) {
            StoredContainer stored = entry.stored();
            boolean endsAfter = stored.offset() + stored.bytes() > reader.length();
            if (stored.state() == State.SEALED && endsAfter && !isWholeAt(reader, stored.offset())) {
                cut.add(entry);
            }
        }
        return cut;
    }

    private static boolean isWholeAt(PackReader reader, long offset) throws IOException {
        FoundContainer found = reader.whole(offset, Long.MAX_VALUE);
        return found != null && found.stored().state() == State.SEALED;
    }

    /** @param all its containers, or those of which a part is missing */
    private void missingPack(long pack, Collection<ContainerEntry> all, String problem) throws IOException {
        List<ContainerEntry> contents = new ArrayList<>();
        for (ContainerEntry entry : all) {
            if (!isMoved(entry)) {
                contents.add(entry);
            }
        }
        // A pack of a volume in use that has nothing of the cut may be removed while it is looked at.
        if (contents.isEmpty() && (present != null || !all.isEmpty())) {
            return;
        }
        long live = contents.stream().mapToLong(ContainerEntry::liveBytes).sum();
        String name = PackFormat.fileName(pack);
        int finding = findings.add(
                live > 0 ? Severity.LOSS : Severity.DEFECT,
                Kind.MISSING_PACK,
                "pack " + name + " " + problem + ": " + count(contents.size(), "container") + " with " + live
                        + " bytes of chunks that files refer to",
                mend.of(Kind.MISSING_PACK, data + "/" + name));
        for (ContainerEntry entry : contents) {
            findings.container(finding, entry.container());
            lost.addContainer(finding, entry.container());
        }
    }

    /** Checks that the entry has the live bytes and the damaged slots of the counts. */
    private void checkUse(ContainerEntry entry) throws IOException {
        ContainerCounts counts = counts(entry.container());
        if (counts == null) {
            return;
        }
        StoredCopies copies = StoredCopies.of(counts);
        List<String> differences = new ArrayList<>();
        differ("live bytes", entry.liveBytes(), copies.bytes() - copies.garbageBytes(), differences);
        differ("damaged slots", entry.damagedSlots(), damaged(counts), differences);
        if (!differences.isEmpty()) {
            int finding = findings.add(
                    Severity.DEFECT,
                    Kind.WRONG_ENTRY,
                    "container " + entry.container() + " has, by its entry in the container table and by its counts: "
                            + String.join(", ", differences));
            findings.container(finding, entry.container());
        }
    }

    private static int damaged(ContainerCounts counts) {
        int damaged = 0;
        for (int slot = 0; slot < counts.slots(); slot++) {
            damaged += counts.isDamaged(slot) ? 1 : 0;
        }
        return damaged;
    }

    /** Returns the slots that are known to be damaged and that files, or snapshots of them, refer to. */
    private static BitSet damagedInUse(ContainerCounts counts) {
        BitSet damaged = new BitSet();
        for (int slot = 0; slot < counts.slots(); slot++) {
            damaged.set(slot, counts.isDamaged(slot) && counts.count(slot) > 0);
        }
        return damaged;
    }

    private static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    private void checkHeader(PackReader reader, long pack) throws IOException {
        try {
            reader.checkHeader();
        } catch (UnsupportedFormatException e) {
            throw e;
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            findings.add(
                    Severity.DEFECT,
                    Kind.PACK_HEADER,
                    "the header of pack " + PackFormat.fileName(pack) + " is damaged (" + e.getMessage()
                            + "); its containers are read without it");
        }
    }

    private void check(PackReader reader, ContainerEntry entry) throws IOException {
        FoundContainer found;
        try {
            found = reader.at(entry.container(), entry.stored());
        } catch (UnsupportedFormatException e) {
            throw e;
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            missing(entry, String.valueOf(e.getMessage()));
            return;
        }
        if (found == null) {
            missing(entry, "no container begins there, or it has no whole frame");
            return;
        }
        if (found.container() != entry.container()
                || !found.stored().writing().equals(entry.stored().writing())) {
            missing(
                    entry,
                    "container " + found.container() + " ("
                            + found.stored().writing() + ") lies there, instead of "
                            + entry.stored().writing());
            return;
        }
        List<String> differences = differences(entry, found.stored());
        if (!differences.isEmpty() && !isMoved(entry)) {
            int finding = findings.add(
                    Severity.DEFECT,
                    Kind.WRONG_ENTRY,
                    "container " + entry.container()
                            + " has, by its entry in the container table and by its own bytes: "
                            + String.join(", ", differences));
            findings.container(finding, entry.container());
        }
        checkOwnHeader(reader, entry, found);
        checkChunks(entry, found);
    }

    private void checkOwnHeader(PackReader reader, ContainerEntry entry, FoundContainer found) throws IOException {
        try {
            reader.checkHeader(found);
        } catch (UnsupportedFormatException e) {
            throw e;
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            if (isMoved(entry)) {
                return;
            }
            int finding = findings.add(
                    Severity.DEFECT,
                    Kind.CONTAINER_HEADER,
                    "the header of container " + found.container() + " is damaged (" + e.getMessage()
                            + "); its chunks are read without it");
            findings.container(finding, found.container());
        }
    }

    private static List<String> differences(ContainerEntry entry, StoredContainer found) {
        StoredContainer stored = entry.stored();
        List<String> differences = new ArrayList<>();
        // What is missing of an open container is no defect of its entry.
        if (stored.state() == State.SEALED) {
            differ("slots", stored.slots(), found.slots(), differences);
            // Chunks that a collection found unused in a damaged frame cannot be removed, and do not count.
            if (stored.rawBytes() > found.rawBytes()) {
                differ("bytes of chunks", stored.rawBytes(), found.rawBytes(), differences);
            }
        }
        return differences;
    }

    private static void differ(String what, long entry, long found, List<String> differences) {
        if (entry != found) {
            differences.add(entry + " and " + found + " " + what);
        }
    }

    /**
     * Returns whether a container of a volume in use was written anew or removed since the metadata were copied; what
     * was found in its old place says nothing then. Checks it in its new place.
     */
    private boolean isMoved(ContainerEntry entry) throws IOException {
        if (present == null) {
            return false;
        }
        StoredContainer now = present.of(entry.container());
        if (now == null) {
            return true;
        }
        if (isSamePlace(now, entry.stored())) {
            return false;
        }
        if (rechecked.add(now)) {
            ContainerEntry moved = new ContainerEntry(entry.container(), now, entry.liveBytes(), entry.damagedSlots());
            try (PackReader reader = data.open(now.pack())) {
                check(reader, moved);
            } catch (UnsupportedFormatException e) {
                throw e;
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                missing(moved, "its pack cannot be read: " + e.getMessage());
            }
        }
        return true;
    }

    /** A container that was sealed meanwhile lies where it was. */
    private static boolean isSamePlace(StoredContainer now, StoredContainer before) {
        return now.pack() == before.pack()
                && now.offset() == before.offset()
                && now.writing().equals(before.writing());
    }

    private void missing(ContainerEntry entry, String problem) throws IOException {
        if (isMoved(entry)) {
            return;
        }
        int finding = findings.add(
                entry.liveBytes() > 0 ? Severity.LOSS : Severity.DEFECT,
                Kind.MISSING_CONTAINER,
                PlaceCheck.name(entry) + " is not there: " + problem);
        findings.container(finding, entry.container());
        lost.addContainer(finding, entry.container());
    }

    /** Checks that the container has the chunks that are alive according to its counts, and that none is damaged. */
    private void checkChunks(ContainerEntry entry, FoundContainer found) throws IOException {
        ContainerCounts counts = counts(entry.container());
        if (counts == null) {
            return;
        }
        BitSet missing = Chunks.missing(counts, found);
        // What was healed after the cut is marked as damaged in the cut.
        BitSet damaged = rechecked.contains(entry.stored()) ? new BitSet() : damagedInUse(counts);
        damaged.andNot(missing);
        if (missing.isEmpty() && damaged.isEmpty() || isMoved(entry)) {
            return;
        }
        if (!missing.isEmpty()) {
            addMissing(entry, counts, missing);
        }
        if (!damaged.isEmpty()) {
            // Nothing is read here: without what earlier reads and scrubs have found, a damaged volume would be sound.
            int finding = findings.add(
                    Severity.LOSS,
                    Kind.DAMAGED_CHUNKS,
                    count(damaged.cardinality(), "chunk") + " of container " + entry.container()
                            + ", which files refer to, are known to be damaged");
            findings.container(finding, entry.container());
            lost.addSlots(finding, entry.container(), damaged);
        }
    }

    private void addMissing(ContainerEntry entry, ContainerCounts counts, BitSet missing) {
        boolean referred = missing.stream().anyMatch(slot -> counts.count(slot) > 0);
        boolean areKnown = missing.stream().allMatch(counts::isDamaged);
        int finding = findings.add(
                referred ? Severity.LOSS : Severity.DEFECT,
                Kind.MISSING_CHUNKS,
                count(missing.cardinality(), "chunk") + " of container " + entry.container()
                        + ", which are counted as stored, are not in it"
                        + (areKnown ? "; all of them are known to be lost" : ""),
                areKnown ? mend.lost() : mend.of(Kind.MISSING_CHUNKS));
        findings.container(finding, entry.container());
        lost.addSlots(finding, entry.container(), missing);
    }

    private @Nullable ContainerCounts counts(long container) throws IOException {
        try {
            return records.counts(container);
        } catch (IOException e) {
            return null; // checkCounted reports it.
        }
    }

    private void checkCounted() throws IOException {
        records.forEachCounted((container, counts) -> {
            if (counts == null) {
                findings.container(
                        findings.add(
                                Severity.DEFECT,
                                Kind.DAMAGED_COUNTS,
                                "the count record of container " + container + " is damaged"),
                        container);
                return;
            }
            if (damagedEntries.contains(container) || records.entry(container) != null) {
                return;
            }
            BitSet alive = counts.alive();
            boolean isKnown = !alive.isEmpty() && alive.stream().allMatch(counts::isDamaged);
            int finding = findings.add(
                    alive.isEmpty() ? Severity.DEFECT : Severity.LOSS,
                    Kind.NO_ENTRY,
                    "container " + container + " has counts of " + count(alive.cardinality(), "chunk")
                            + " and no entry in the container table"
                            + (isKnown ? "; all of them are known to be lost" : ""),
                    isKnown ? mend.lost() : mend.of(Kind.NO_ENTRY));
            findings.container(finding, container);
            lost.addContainer(finding, container);
        });
    }

    /**
     * Returns the directory of a container for the check of references; null if this check reported the container.
     *
     * @throws IOException if it cannot be read, neither where it was nor where it is now
     */
    @Nullable
    ChunkDirectory directory(long container) throws IOException {
        ContainerEntry entry = lost.hasWhole(container) ? null : records.entry(container);
        if (entry == null) {
            return null;
        }
        StoredContainer stored = entry.stored();
        while (true) {
            try {
                return directory(container, stored);
            } catch (IOException e) {
                StoredContainer now = present == null ? null : present.of(container);
                if (now == null || isSamePlace(now, stored)) {
                    throw e;
                }
                stored = now;
            }
        }
    }

    private ChunkDirectory directory(long container, StoredContainer stored) throws IOException {
        try (PackReader reader = data.open(stored.pack())) {
            FoundContainer found = reader.at(container, stored);
            if (found == null
                    || found.container() != container
                    || !found.stored().writing().equals(stored.writing())) {
                throw new CorruptionException(
                        PackFormat.fileName(stored.pack()), stored.offset(), "container " + container, "none");
            }
            return ChunkDirectory.of(found);
        }
    }
}
