package org.opendedup.sar.heal;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.Causes;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.Compaction;
import org.opendedup.sar.container.DamagedContainer;
import org.opendedup.sar.container.KnownChunks;
import org.opendedup.sar.container.Replacements;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.counts.FormerPlaces;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamageNote.How;

/**
 * The healing of one container: examines its damaged frames, finds the bytes of their chunks, and writes its next
 * generation with these, by {@link HealedContainer}. A chunk that is found nowhere is lost: it stays listed and marked,
 * and a later pass looks for it again. For one thread.
 */
final class ContainerHealing implements Compaction.Results {
    private static final String UNKNOWN_LISTS = "the fingerprints of these chunks are lost with the directory";
    private static final String UNKNOWN_CHUNKS = "the pack is missing or cut short, and the index does not have all"
            + " fingerprints of the container; bring the pack back, or restore the files";

    private final HealParts parts;
    private final HealMarks marks;
    private final Sources sources;
    private final IndexedChunks indexed;
    private final Compaction compaction;
    private final ReferenceCounts counts;
    private final long container;

    private final List<HealReport.Unhealed> unhealed = new ArrayList<>();
    private final Replacements replacements = new Replacements();
    /** Damaged slots that are healed by the next generation. */
    private final BitSet healed = new BitSet();
    /** Slots whose bytes, right or wrong, the next generation does not have. */
    private final BitSet dropped = new BitSet();
    /** The chunks that were not found, by frame, of those frames of which nothing is gained. */
    private final Map<Integer, BitSet> unhealedFrames = new HashMap<>();

    private HealReport report = HealReport.NONE;
    private long fromFrame;
    private long fromSsd;
    private long fromCopies;
    private boolean packIsMissing;
    /** Whether the present place is of no use although nothing has to be found elsewhere. */
    private boolean mustBeWritten;
    /** Whether the pack ends before the container does: its directory, which comes last, is gone in any case. */
    private boolean isCutShort;

    private boolean isCopied;
    private boolean foundMore;
    /** Whether fingerprints of chunks are not known. */
    private boolean hasUnlisted;
    /** Whether a former place is written anew, because nothing of the present one can be read. */
    private boolean isFormer;
    /** Chunks that files refer to and that the new writing lists without bytes. They stay marked. */
    private final BitSet lost = new BitSet();

    ContainerHealing(
            HealParts parts,
            HealMarks marks,
            Sources sources,
            IndexedChunks indexed,
            Compaction compaction,
            long container) {
        this.parts = parts;
        this.marks = marks;
        this.sources = sources;
        this.indexed = indexed;
        this.compaction = compaction;
        this.container = container;
        counts = parts.metadata().counts();
    }

    /** Returns whether more damage was found than was known: it is marked by now, and another run knows it. */
    boolean foundMore() {
        return foundMore;
    }

    /** Returns what the run did, without what it could not heal. */
    HealReport report() {
        return report;
    }

    /** Heals what it can, and returns what stays damaged. */
    List<HealReport.Unhealed> run() throws IOException {
        BitSet marked = markedSlots();
        packIsMissing = parts.containers().isMissing(container);
        mustBeWritten = packIsMissing;
        if (marked.isEmpty() && !packIsMissing && !hasLostDirectory()) {
            forgetFormer();
            return List.of();
        }
        if (!parts.containers().isSealed(container)) {
            report = report.plusExamined();
            return stays(marked, "the container is being written");
        }
        // Who stored a chunk in this container has its reference by now: no slot becomes alive any more.
        parts.uses().await();
        BitSet kept = counts.alive(container);
        if (kept.isEmpty()) {
            return List.of();
        }
        report = report.plusExamined();
        compaction.makeReady(this);
        FormerCopies former = FormerCopies.of(parts, compaction, container, kept);
        DamagedContainer examined;
        try {
            examined = examine(marked, former);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            StoredContainer place = former.last();
            // The pack is missing, or ends before the container does.
            boolean isGone = Causes.include(e, NoSuchFileException.class, EOFException.class);
            if (!isGone) {
                return place == null
                        ? stays(marked, "it cannot be read: " + e.getMessage())
                        : healFormer(kept, marked, former, place);
            }
            return healRemains(kept, marked, former);
        }
        if (markOthers(examined, kept, marked)) {
            // They are read once more before their bytes are copied: one read may err.
            return unhealed;
        }
        heal(examined, kept, marked, marked, former);
        return unhealed;
    }

    /**
     * Former places without a mark are of no use, and would be kept for ever: their records came from older metadata.
     * If it is the marks that are gone, makes those anew instead.
     */
    private void forgetFormer() throws IOException {
        FormerPlaces former = parts.metadata().damage().former();
        List<StoredContainer> places = former.of(container);
        if (places.isEmpty()) {
            return;
        }
        BitSet unmarked = lostSlots();
        if (!unmarked.isEmpty()) {
            // The next run knows them.
            foundMore = true;
            mark(unmarked);
            return;
        }
        parts.commits().changes().lock();
        try {
            places.forEach(place -> former.remove(container, place));
        } finally {
            parts.commits().changes().unlock();
        }
        parts.commits().commit();
    }

    /** Returns the chunks that files may refer to and that the container lists without their bytes. */
    private BitSet lostSlots() throws IOException {
        BitSet lostOnes = counts.alive(container);
        if (lostOnes.isEmpty()) {
            return lostOnes;
        }
        try (GracePeriod.Use use = parts.uses().begin();
                DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            SealedContainer directory = parts.containers().directory(container);
            for (int slot = lostOnes.nextSetBit(0); slot >= 0; slot = lostOnes.nextSetBit(slot + 1)) {
                lostOnes.set(slot, slot < directory.slots() && directory.isLost(slot));
            }
        }
        return lostOnes;
    }

    private DamagedContainer examine(BitSet marked, FormerCopies former) throws IOException {
        try (DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            return compaction.examine(container, marked, former.known());
        }
    }

    private List<HealReport.Unhealed> healRemains(BitSet kept, BitSet marked, FormerCopies former) throws IOException {
        KnownChunks known = indexed.of(container, kept);
        DamagedContainer examined;
        try (DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            examined = compaction.examineRemains(container, known);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            return stays(kept, UNKNOWN_CHUNKS);
        }
        isCutShort = true;
        BitSet gone = (BitSet) kept.clone();
        gone.andNot(examined.sound());
        heal(examined, kept, marked, gone, former);
        return unhealed;
    }

    /** Of what was written last, nothing is left: writes anew what was there before. */
    private List<HealReport.Unhealed> healFormer(BitSet kept, BitSet marked, FormerCopies former, StoredContainer place)
            throws IOException {
        DamagedContainer examined;
        try (DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            examined = compaction.examineFormer(container, place);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            return stays(kept, "it cannot be read, nor in its former place: " + e.getMessage());
        }
        mustBeWritten = true;
        isFormer = true;
        BitSet gone = (BitSet) kept.clone();
        gone.andNot(examined.sound());
        heal(examined, kept, marked, gone, former);
        return unhealed;
    }

    /**
     * @param marked slots that are marked as damaged
     * @param damaged slots that are damaged: these, or, of a container of which a part is gone, what is not sound
     */
    private void heal(DamagedContainer examined, BitSet kept, BitSet marked, BitSet damaged, FormerCopies former)
            throws IOException {
        BitSet sound = (BitSet) marked.clone();
        sound.and(examined.sound());
        for (int frame : examined.damagedFrames()) {
            findFrame(examined, frame, kept, damaged, former);
        }
        withoutDirectoryEntry(examined, damaged);
        if (!isWorthWriting(examined)) {
            healed.clear();
            if (!examined.isMadeAnew() && !mustBeWritten) {
                takeBack(sound, false);
            }
            return;
        }
        BitSet unmarked = (BitSet) damaged.clone();
        unmarked.andNot(marked);
        mark(unmarked);
        HealedContainer written = write(examined, kept, damaged);
        if (!isCopied) {
            healed.clear();
        } else if (!written.verify(List.of(healed, sound), copiedAsTheyAre(examined, kept, former), unhealed)) {
            dropped.or(kept);
        }
        if (isCopied || !(examined.isMadeAnew() || mustBeWritten)) {
            takeBack(sound, isCopied && needsNewPlace(examined));
        }
        if (isCopied) {
            written.giveBack(!dropped.isEmpty(), lost);
        }
    }

    /**
     * Returns the slots of the damaged frames that were copied as they are. The old place of one may have the right
     * bytes, because one read may err; not if the frame is itself a copy of what a former place has.
     */
    private BitSet copiedAsTheyAre(DamagedContainer examined, BitSet kept, FormerCopies former) {
        BitSet all = new BitSet();
        for (int frame : examined.damagedFrames()) {
            if (!replacements.hasFrame(frame)) {
                BitSet slots = new BitSet();
                slots.set(examined.firstSlot(frame), examined.endSlot(frame));
                all.or(slots);
                slots.and(kept);
                if (examined.hasBytes(frame) && !former.hasFrame(frame, examined.checksum(frame))) {
                    dropped.or(slots);
                }
            }
        }
        return all;
    }

    private boolean isWorthWriting(DamagedContainer examined) {
        if (examined.isWhole()) {
            // A pack that was deleted can be read as long as its file is open.
            return !replacements.isEmpty() || examined.isMadeAnew() || mustBeWritten;
        }
        // Zeros must not be copied in the place of bytes that may be readable another time.
        return !hasUnlisted && (!replacements.isEmpty() || needsNewPlace(examined) && unhealed.isEmpty());
    }

    /** Returns whether the container has to be written elsewhere even if no byte of it was found elsewhere. */
    private boolean needsNewPlace(DamagedContainer examined) {
        return examined.isMadeAnew() || mustBeWritten || isCutShort;
    }

    private boolean hasLostDirectory() throws IOException {
        if (!parts.containers().isSealed(container) || counts.alive(container).isEmpty()) {
            return false;
        }
        try (GracePeriod.Use use = parts.uses().begin();
                DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            return parts.containers().lastingDirectory(container).container() != container;
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            return true;
        }
    }

    /** Marks slots of frames that are damaged and were not known to be; returns whether there are any. */
    private boolean markOthers(DamagedContainer examined, BitSet kept, BitSet marked) {
        for (int frame : examined.damagedFrames()) {
            BitSet others = new BitSet();
            others.set(examined.firstSlot(frame), examined.endSlot(frame));
            others.and(kept);
            others.andNot(marked);
            others.andNot(examined.sound());
            if (!others.isEmpty()) {
                int first = examined.firstSlot(frame);
                damaged(container, first, examined.endSlot(frame) - first, new IOException("its frame is damaged"));
            }
        }
        return foundMore;
    }

    private BitSet markedSlots() throws IOException {
        BitSet marked = counts.damaged(container);
        marked.and(counts.alive(container));
        return marked;
    }

    private List<HealReport.Unhealed> stays(BitSet slots, String reason) {
        return List.of(
                new HealReport.Unhealed(container, Math.max(0, slots.nextSetBit(0)), slots.cardinality(), reason));
    }

    /** Slots that no frame has: an earlier generation was made without them. */
    private void withoutDirectoryEntry(DamagedContainer examined, BitSet damaged) {
        BitSet gone = (BitSet) damaged.clone();
        gone.andNot(examined.sound());
        for (int frame : examined.damagedFrames()) {
            gone.clear(examined.firstSlot(frame), examined.endSlot(frame));
        }
        if (!gone.isEmpty()) {
            unhealed.addAll(stays(gone, "the container's directory does not have these chunks"));
        }
    }

    /** Finds the chunks of a damaged frame that files may refer to. */
    private void findFrame(DamagedContainer examined, int frame, BitSet kept, BitSet damaged, FormerCopies former)
            throws IOException {
        Map<Integer, byte[]> salvaged = examined.salvaged(frame);
        SealedContainer directory = examined.directory();
        BitSet unlisted = new BitSet();
        BitSet missing = new BitSet();
        BitSet found = new BitSet();
        for (int slot = kept.nextSetBit(examined.firstSlot(frame));
                slot >= 0 && slot < examined.endSlot(frame);
                slot = kept.nextSetBit(slot + 1)) {
            if (slot >= directory.slots() || directory.listedLength(slot) == 0) {
                unlisted.set(slot);
                continue;
            }
            boolean isDamaged = damaged.get(slot) && !examined.sound().get(slot);
            byte[] chunk = salvaged.get(slot);
            chunk = chunk == null ? former.chunk(directory, slot) : chunk;
            fromFrame += chunk != null && isDamaged ? 1 : 0;
            if (chunk == null) {
                chunk = sources.fromSsd(directory, slot);
                fromSsd += chunk != null && isDamaged ? 1 : 0;
            }
            if (chunk == null) {
                chunk = sources.fromOtherCopy(directory, slot);
                fromCopies += chunk != null && isDamaged ? 1 : 0;
            }
            if (chunk == null) {
                missing.set(slot);
                sources.want(directory, slot);
            } else {
                replacements.put(slot, chunk);
                found.set(slot, isDamaged);
            }
        }
        if (!unlisted.isEmpty()) {
            hasUnlisted = true;
            unhealed.addAll(stays(unlisted, examined.isMadeAnew() ? UNKNOWN_LISTS : UNKNOWN_CHUNKS));
            return;
        }
        if (!missing.isEmpty()) {
            String reason = "no copy of these chunks of frame " + frame + " was found";
            unhealed.addAll(stays(missing, packIsMissing ? reason + ", and the pack is missing" : reason));
        }
        if (found.isEmpty()) {
            unhealedFrames.put(frame, missing);
        } else {
            addFrame(examined, frame, missing);
            healed.or(found);
        }
    }

    private void addFrame(DamagedContainer examined, int frame, BitSet missing) {
        replacements.addFrame(frame);
        // Of a frame that the disk returned, a chunk that its own directory lists as lost has no bytes.
        boolean listsAreOwn = examined.isWhole() && !examined.isMadeAnew() && !isFormer;
        missing.stream()
                .filter(slot -> !listsAreOwn || !examined.directory().isLost(slot))
                .forEach(dropped::set);
        lost.or(missing);
    }

    /** Adds the chunks that stay listed as lost, in frames that are copied as they are. */
    private void addLost(SealedContainer directory, BitSet kept) {
        for (int slot = kept.nextSetBit(0); slot >= 0 && slot < directory.slots(); slot = kept.nextSetBit(slot + 1)) {
            if (directory.isLost(slot) && replacements.chunk(slot) == null) {
                lost.set(slot);
                dropped.set(slot, dropped.get(slot) || isFormer);
            }
        }
    }

    /**
     * Marks chunks that are not marked: a part of the container is gone, or the next generation lists them without
     * bytes.
     */
    private void mark(BitSet chunks) throws IOException {
        String reason = "a part of its container is missing, or could not be read";
        parts.commits().changes().lock();
        try {
            BitSet slots = (BitSet) chunks.clone();
            slots.andNot(counts.damaged(container));
            for (int first = slots.nextSetBit(0); first >= 0; ) {
                int end = slots.nextClearBit(first);
                counts.markDamaged(container, first, end, DamageNote.now(DamageNote.NO_FRAME, How.HEAL, reason));
                first = slots.nextSetBit(end);
            }
        } finally {
            parts.commits().changes().unlock();
        }
    }

    private HealedContainer write(DamagedContainer examined, BitSet kept, BitSet damaged) throws IOException {
        if (!examined.isWhole()) {
            unhealedFrames.forEach((frame, missing) -> addFrame(examined, frame, missing));
        }
        addLost(examined.directory(), kept);
        mark(lost);
        HealedContainer written = new HealedContainer(parts, marks, compaction, container);
        written.copy(kept, damaged, replacements, this);
        if (isCopied) {
            written.commit();
        }
        return written;
    }

    private void takeBack(BitSet sound, boolean isWritten) throws IOException {
        if (!sound.isEmpty()) {
            marks.sound(container, sound, isWritten);
        }
        if (!healed.isEmpty()) {
            marks.sound(container, healed, true);
        }
        if (!sound.isEmpty() || !healed.isEmpty() || isWritten) {
            report = report.plusHealed(
                    healed.isEmpty() ? 0 : fromFrame,
                    healed.isEmpty() ? 0 : fromSsd,
                    healed.isEmpty() ? 0 : fromCopies,
                    sound.cardinality());
            parts.commits().commit();
        }
    }

    @Override
    public void copied(long ofContainer, long bytes, long saved) {
        isCopied = true;
    }

    @Override
    public void incompressible(long ofContainer) {
        throw new AssertionError("container " + ofContainer + " is not to be compressed");
    }

    /** Another frame is damaged as well; the next run knows it. */
    @Override
    public void damaged(long ofContainer, int firstSlot, int slots, IOException why) {
        foundMore = true;
        String reason = "another frame is damaged as well; the next pass heals both";
        try {
            marks.found(ofContainer, firstSlot, firstSlot + slots, How.HEAL, why);
        } catch (IOException e) {
            reason = String.valueOf(e.getMessage());
        }
        unhealed.add(new HealReport.Unhealed(ofContainer, firstSlot, slots, reason));
    }
}
