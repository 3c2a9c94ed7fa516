package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameContent;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Seals the containers that a crash left open, which are those that the container table calls open. Copies every frame
 * whose checksum holds, in order, to a new pack, with a directory of its own. Changes no pack that it finds: so a crash
 * during recovery, or before the changed table is committed, leaves everything as it was.
 *
 * <p>A disk may return another time what it does not return now. So slots that were not found get frames without bytes,
 * which healing fills, and the place that was read becomes a former place of the container. A container of which
 * nothing was found stays open, and the next mount reads it again.
 *
 * <p>The table says how long the durable part of an open container is. Nothing refers to bytes after that.
 */
final class ContainerRecovery {
    private static final Logger log = LoggerFactory.getLogger(ContainerRecovery.class);

    private final Directory directory;
    private final ContainerClaims claims;
    private final ContainerIds ids;
    private final ContainerCipher cipher;
    private final Map<Long, StoredContainer> recovered = new HashMap<>();
    private final Set<Long> removed = new HashSet<>();
    private final List<Lost> lost = new ArrayList<>();
    private final Set<Long> leftOpen = new HashSet<>();

    /**
     * Slots that the volume refers to and recovery did not find.
     *
     * @param slots the missing slots, at least one
     * @param place where the container was read
     */
    record Lost(long container, BitSet slots, StoredContainer place) {
        void forEachRange(LostSlots visitor) throws IOException {
            for (int first = slots.nextSetBit(0); first >= 0; ) {
                int end = slots.nextClearBit(first);
                visitor.lost(container, first, end);
                first = slots.nextSetBit(end);
            }
        }
    }

    ContainerRecovery(Directory directory, ContainerClaims claims, ContainerIds ids, ContainerCipher cipher) {
        this.cipher = cipher;
        this.directory = directory;
        this.claims = claims;
        this.ids = ids;
    }

    /** Returns the changes of the container table that recovery needs. */
    ContainerChanges changes() {
        return new ContainerChanges(recovered, removed);
    }

    boolean hasLost() {
        return !lost.isEmpty();
    }

    /** Visits the slots that the volume refers to and that were not found. */
    void forEachLost(LostSlots visitor) throws IOException {
        for (Lost each : lost) {
            each.forEachRange(visitor);
        }
    }

    /** Visits the places of containers that were sealed without some of these slots. */
    void forEachHalfRead(ContainerClaims.Visitor visitor) throws IOException {
        for (Lost each : lost) {
            if (recovered.containsKey(each.container())) {
                visitor.visit(each.container(), each.place());
            }
        }
    }

    /** Returns the containers of which nothing was found that files refer to. */
    Set<Long> leftOpen() {
        return leftOpen;
    }

    /** Recovers every open container. Gives reserved space back that a crash left with their packs. */
    void recover() throws IOException {
        List<Map.Entry<Long, StoredContainer>> open = new ArrayList<>();
        claims.forEachOpen((container, stored) -> open.add(Map.entry(container, stored)));
        if (open.isEmpty()) {
            return;
        }
        // In the order of the disk.
        open.sort(Map.Entry.comparingByValue(
                Comparator.comparingLong(StoredContainer::pack).thenComparingLong(StoredContainer::offset)));
        try (NewPack target = new NewPack()) {
            for (Map.Entry<Long, StoredContainer> each : open) {
                recover(each.getKey(), each.getValue(), target);
            }
            target.finish();
        }
        for (Map.Entry<Long, StoredContainer> each : open) {
            trim(each.getValue().pack());
        }
    }

    private void trim(long pack) {
        try {
            directory.trim(PackFormat.fileName(pack));
        } catch (IOException e) {
            log.debug("pack {}: reserved space could not be given back", pack, e);
        }
    }

    private void recover(long container, StoredContainer stored, NewPack target) throws IOException {
        BitSet missing = claims.slots(container);
        String name = PackFormat.fileName(stored.pack());
        try (Input input = directory.open(name)) {
            SlicedInput bytes = new SlicedInput(input, stored.offset(), stored.bytes());
            String place = name + " from byte " + stored.offset();
            SalvagedFile file = new SalvagedFile(bytes, place, stored.bytes());
            ContainerIdentity identity = new ContainerIdentity(
                    container, stored.writing().salt(), stored.writing().generation());
            StoredContainer sealed = target.copy(file, identity, missing);
            if (!missing.isEmpty()) {
                lost.add(new Lost(container, missing, stored));
                log.error(
                        "container {}: {} chunks that files refer to are not whole in what a crash left of it; they"
                                + " are looked for again in {}/{}, which stays as it is",
                        container,
                        missing.cardinality(),
                        directory,
                        place);
            }
            if (sealed == null && missing.isEmpty()) {
                removed.add(container);
                log.info("container {}: unsealed, without a whole frame, removed", container);
            } else if (sealed == null) {
                leftOpen.add(container);
            } else {
                recovered.put(container, sealed);
                log.info("container {}: sealed with {} chunks after a crash", container, sealed.slots());
            }
        } catch (NoSuchFileException e) {
            leftOpen.add(container);
            log.error(
                    "container {}: was not sealed when the volume ended, and its file {}/{} is missing; it is looked"
                            + " for again at the next mount",
                    container,
                    directory,
                    name);
        }
    }

    /**
     * The pack to which the containers are copied. Its file is created for the first one, and deleted unless finished.
     */
    private final class NewPack implements Closeable {
        private @Nullable Output output;
        private long number;
        private boolean finished;

        private Output output() throws IOException {
            Output present = output;
            while (present == null) {
                number = ids.next();
                try {
                    present = directory.create(PackFormat.fileName(number));
                } catch (FileAlreadyExistsException e) {
                    // Left by another history of the volume: never overwritten.
                    log.debug("pack {} exists", number, e);
                }
            }
            if (output == null) {
                output = present;
                present.append(PackFormat.header(number).buffer());
            }
            return present;
        }

        /**
         * Copies the whole frames of a container, and removes their slots from {@code missing}. Each slot that stays
         * there gets a frame of its own, without bytes: how many frames it was is not known, and the number of a frame
         * never changes.
         *
         * @return the new entry, or null if no frame is whole
         */
        @Nullable
        StoredContainer copy(SalvagedFile file, ContainerIdentity identity, BitSet missing) throws IOException {
            UnsealedFrames frames = new UnsealedFrames(file, identity, cipher);
            FrameFormat.Header frame = frames.next();
            if (frame == null) {
                return null;
            }
            Output to = output();
            long end = to.position();
            long start = PackFormat.align(end);
            ContainerWriting writing = new ContainerWriting(cipher, identity);
            to.append(ContainerFormat.begin(writing, (int) (start - end)).buffer());
            FrameTable.Builder table = new FrameTable.Builder(identity.writing());
            Bytes chunkLists = new Bytes(1024);
            long rawBytes = 0;
            for (; frame != null; frame = frames.next()) {
                addMissing(missing, frame.firstSlot(), table);
                byte[] bytes = file.bytes();
                long offset = to.append(ByteBuffer.wrap(bytes, frames.place(), frame.frameBytes())) - start;
                table.add(frame.firstSlot(), frame.chunks(), (int) offset, frame.frameBytes(), frame.rawBytes());
                FrameContent content = frames.content();
                chunkLists.putBytes(content.bytes(), content.list(), frame.listBytes());
                missing.clear(frame.firstSlot(), frame.firstSlot() + frame.chunks());
                rawBytes += frame.rawBytes();
            }
            addMissing(missing, missing.length(), table);
            byte[] tableBytes = table.build().encode();
            to.append(ContainerFormat.tail(writing, tableBytes, chunkLists, to.position() - start)
                    .buffer());
            return new StoredContainer(
                    identity.writing(),
                    StoredContainer.State.SEALED,
                    number,
                    start,
                    to.position() - start,
                    table.slots(),
                    rawBytes);
        }

        /** Adds the missing slots before {@code end} that the table does not have yet. */
        private static void addMissing(BitSet missing, int end, FrameTable.Builder table) {
            for (int slot = missing.nextSetBit(table.slots());
                    slot >= 0 && slot < end;
                    slot = missing.nextSetBit(slot + 1)) {
                table.addRemoved(slot, 1);
            }
        }

        /** Makes all copies durable. */
        void finish() throws IOException {
            if (output != null) {
                output.force();
                directory.sync();
                directory.checkName(PackFormat.fileName(number));
            }
            finished = true;
        }

        /**
         * Deletes the file if the recovery failed: on a full disk, the next mount needs this space before it starts its
         * recovery.
         */
        @Override
        public void close() throws IOException {
            if (output != null) {
                output.close();
                if (!finished) {
                    directory.delete(PackFormat.fileName(number));
                }
            }
        }
    }
}
