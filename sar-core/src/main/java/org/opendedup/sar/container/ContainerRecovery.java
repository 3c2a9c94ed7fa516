package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Seals the containers that a crash left open. Copies every frame whose checksum holds, in order, to a new file. That
 * file is durable under the sealed name when the open file is deleted: a crash during recovery leaves at least one of
 * the two, and a repeated recovery has the same result.
 *
 * <p>Deletes only files that are proved to be superseded. An open file is deleted only if the sealed file of the same
 * writing, found or just created, has every whole frame of it. An open file without a whole frame is deleted if none of
 * its slots is live. Any other file is renamed and kept aside for the administrator.
 */
final class ContainerRecovery {
    private static final Logger log = LoggerFactory.getLogger(ContainerRecovery.class);

    /**
     * Number of bytes of an open file that are examined: many times the largest size of a container (its nominal size
     * and one frame).
     */
    private static final long MAX_FILE_BYTES = 256 << 20;

    private final Directory directory;
    private final ContainerClaims claims;
    private final List<Long> recovered = new ArrayList<>();
    private final List<Lost> lost = new ArrayList<>();

    /**
     * Slots that the volume refers to and recovery did not find.
     *
     * @param slots the missing slots, at least one
     */
    record Lost(long container, BitSet slots) {}

    ContainerRecovery(Directory directory, ContainerClaims claims) {
        this.directory = directory;
        this.claims = claims;
    }

    /** Returns the containers that were sealed, or found sealed although an open file of the same id exists. */
    List<Long> recovered() {
        return recovered;
    }

    List<Lost> lost() {
        return lost;
    }

    /** Recovers every unsealed container in {@code names}, the file names of the directory. */
    void recover(List<String> names) throws IOException {
        // Deletes files left by an interrupted recovery: their names are needed now.
        for (String name : names) {
            if (ContainerFormat.containerOf(name, ContainerFormat.RECOVERY_SUFFIX)
                    .isPresent()) {
                directory.delete(name);
            }
        }
        for (String name : names) {
            OptionalLong container = ContainerFormat.containerOf(name, ContainerFormat.OPEN_SUFFIX);
            if (container.isPresent()) {
                recover(container.getAsLong(), name);
            }
        }
        directory.sync();
    }

    private void recover(long container, String name) throws IOException {
        Writing claimed = claims.writing(container);
        try (Input input = directory.open(name)) {
            SalvagedFile file = file(name, input);
            ContainerIdentity identity = UnsealedFrames.identity(file, container, claimed, name);
            boolean isClaimed = identity != null && identity.writing().equals(claimed);
            String sealedName = ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX);
            if (directory.exists(sealedName)) {
                SealedContainer sealed = sealedBeside(container, sealedName);
                if (sealed != null && identity != null && supersedes(sealed, file(name, input), identity)) {
                    recovered.add(container);
                    endSealed(container, name, identity, isClaimed ? missing(container, sealed) : new BitSet());
                    return;
                }
                if (!isClaimed || sealed != null && sealed.writing().equals(claimed)) {
                    setAside(name, container, identity, "a sealed container of this id is in the same folder");
                    return;
                }
                setAside(sealedName, container, null, "the volume refers to the unsealed one in the same folder");
            } else if (!isClaimed && !claimed.equals(Writing.UNKNOWN)) {
                setAside(name, container, identity, "the volume refers to another container of this id");
                return;
            }
            seal(container, name, input, identity);
        }
    }

    private static SalvagedFile file(String name, Input input) throws IOException {
        return new SalvagedFile(input, name, MAX_FILE_BYTES);
    }

    /** Returns the slots that the volume refers to and a sealed container does not have. */
    private BitSet missing(long container, SealedContainer sealed) throws IOException {
        BitSet missing = claims.slots(container);
        for (int slot = missing.nextSetBit(0); slot >= 0; slot = missing.nextSetBit(slot + 1)) {
            missing.set(slot, slot >= sealed.slots() || sealed.frame(slot) < 0);
        }
        return missing;
    }

    /**
     * Finishes a recovery or sealing that was interrupted after the sealed file was made, in the same way as
     * {@link #seal}.
     */
    private void endSealed(long container, String name, ContainerIdentity identity, BitSet missing) throws IOException {
        if (missing.isEmpty()) {
            log.warn("container {}: already sealed; its unsealed file is removed", container);
            directory.delete(name);
        } else {
            noteLost(container, missing);
            setAside(name, container, identity, "some chunks that files refer to could not be read from it");
        }
    }

    private void noteLost(long container, BitSet missing) {
        lost.add(new Lost(container, missing));
        log.error(
                "container {}: {} chunks that files refer to are not whole in what a crash left of it",
                container,
                missing.cardinality());
    }

    /**
     * Returns the directory of a sealed file that was found although an open file of the same id exists; null if the
     * sealed file is damaged.
     */
    private @Nullable SealedContainer sealedBeside(long container, String name) throws IOException {
        try (Input input = directory.open(name)) {
            return new DirectoryReader(input, container, new ReadStatistics()).directory();
        } catch (CorruptionException e) {
            log.error("{}", e.getMessage());
            return null;
        }
    }

    /** Returns whether a sealed container has every whole frame of an open file. */
    private static boolean supersedes(SealedContainer sealed, SalvagedFile file, ContainerIdentity identity)
            throws IOException {
        if (!sealed.writing().equals(identity.writing())) {
            return false;
        }
        UnsealedFrames frames = new UnsealedFrames(file, identity);
        for (FrameFormat.Header frame = frames.next(); frame != null; frame = frames.next()) {
            int number = sealed.frame(frame.firstSlot());
            if (number < 0
                    || sealed.frameTable().firstSlot(number) != frame.firstSlot()
                    || sealed.frameTable().slotCount(number) != frame.chunks()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Seals the readable frames of an open file, records the slots that are missing, and deletes the file if it holds
     * nothing more.
     */
    private void seal(long container, String name, Input input, @Nullable ContainerIdentity identity)
            throws IOException {
        BitSet missing = claims.slots(container);
        SalvagedFile file = file(name, input);
        boolean sealed = identity != null && copy(file, identity, missing);
        if (sealed) {
            recovered.add(container);
        }
        if (!missing.isEmpty()) {
            noteLost(container, missing);
        }
        if (!missing.isEmpty() || file.unreadableBytes() > 0 || input.length() > file.length()) {
            setAside(name, container, identity, "not all of it could be read");
            return;
        }
        if (!sealed) {
            log.info("container {}: unsealed, without a whole frame and not referred to, removed", container);
        }
        directory.delete(name);
    }

    /**
     * Writes the sealed file and removes its slots from {@code missing}; returns false, and writes nothing, if no frame
     * is whole.
     */
    private boolean copy(SalvagedFile file, ContainerIdentity identity, BitSet missing) throws IOException {
        UnsealedFrames frames = new UnsealedFrames(file, identity);
        FrameFormat.Header frame = frames.next();
        if (frame == null) {
            return false;
        }
        long container = identity.container();
        String temporary = ContainerFormat.fileName(container, ContainerFormat.RECOVERY_SUFFIX);
        int count = 0;
        try (Output output = directory.create(temporary);
                Unfinished unfinished = new Unfinished(temporary)) {
            Bytes header = new Bytes(ContainerFormat.HEADER_BYTES);
            ContainerFormat.putHeader(identity, header);
            output.append(header.buffer());
            FrameTable.Builder table = new FrameTable.Builder(identity.writing());
            Bytes chunkLists = new Bytes(1024);
            for (; frame != null; frame = frames.next()) {
                byte[] bytes = file.bytes();
                long offset = output.append(ByteBuffer.wrap(bytes, frames.place(), frame.frameBytes()));
                table.add(frame.firstSlot(), frame.chunks(), (int) offset, frame.frameBytes(), frame.rawBytes());
                chunkLists.putBytes(bytes, frames.place() + FrameFormat.HEADER_BYTES, frame.listBytes());
                missing.clear(frame.firstSlot(), frame.firstSlot() + frame.chunks());
                count++;
            }
            byte[] tableBytes = table.build().encode();
            output.append(ContainerFormat.tail(identity, tableBytes, chunkLists, output.position())
                    .buffer());
            output.force();
            unfinished.done = true;
        }
        directory.rename(temporary, ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX));
        directory.sync();
        log.info("container {}: sealed with {} whole frames after a crash", container, count);
        return true;
    }

    /**
     * Deletes the recovery file if the recovery fails: on a full disk, the next mount needs this space before it starts
     * its recovery.
     */
    private final class Unfinished implements Closeable {
        private final String name;
        private boolean done;

        Unfinished(String name) {
            this.name = name;
        }

        @Override
        public void close() throws IOException {
            if (!done) {
                directory.delete(name);
            }
        }
    }

    private void setAside(String name, long container, @Nullable ContainerIdentity identity, String why)
            throws IOException {
        String salt = identity == null ? "unknown" : String.format(Locale.ROOT, "%016x", identity.salt());
        String aside = ContainerFormat.fileName(container, "." + salt + ContainerFormat.ASIDE_SUFFIX);
        for (int copy = 2; directory.exists(aside); copy++) {
            aside = ContainerFormat.fileName(container, "." + salt + "." + copy + ContainerFormat.ASIDE_SUFFIX);
        }
        directory.rename(name, aside);
        directory.sync();
        log.error("{}/{} is kept as {}: {}", directory, name, aside, why);
    }
}
