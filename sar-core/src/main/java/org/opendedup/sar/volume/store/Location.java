package org.opendedup.sar.volume.store;

import static org.opendedup.sar.container.format.PackFormat.isPack;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.SystemError;
import org.opendedup.sar.io.TransferBuffers;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.remote.RemoteDirectory;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One of the {@link DataLocations} of a volume, and what is known of its disk. Safe for use by many threads. */
public final class Location {
    private static final Logger log = LoggerFactory.getLogger(Location.class);

    /** Time after which a location that took no pack is tried again, in nanoseconds. */
    private static final long RETRY_NS = TimeUnit.MINUTES.toNanos(1);

    private final Directory directory;
    private final Device device;
    private final long number;
    /** Why a pack could not be made here; null if the last one could. */
    private volatile @Nullable Refusal refusal;
    /** Whether its packs are moved to others. */
    private volatile boolean leaving;

    private record Refusal(String reason, long atNs) {}

    Location(Directory directory, Device device, long number) {
        this.directory = directory;
        this.device = device;
        this.number = number;
    }

    static Location at(Path folder, TransferBuffers buffers) throws IOException {
        FileDirectory directory = FileDirectory.open(folder, buffers);
        return new Location(directory, FileDevice.of(folder), VolumeIdentity.location(directory));
    }

    public Directory directory() {
        return directory;
    }

    public Device device() {
        return device;
    }

    /** Returns what its {@code volume.id} calls it; {@link VolumeIdentity#FIRST} for that of a new volume. */
    public long number() {
        return number;
    }

    /** Returns where its device is used: the folder through which packs go, if they are in an object store. */
    String place() {
        return directory instanceof RemoteDirectory ? device.toString() : directory.toString();
    }

    /** Returns its record in the metadata. */
    public DataLocation record() {
        return record(leaving ? DataLocation.State.LEAVING : DataLocation.State.USED);
    }

    /** Returns its record with another state. */
    public DataLocation record(DataLocation.State state) {
        return new DataLocation(number, state, directory.toString());
    }

    /** Returns whether its packs are moved to others. */
    public boolean isLeaving() {
        return leaving;
    }

    /** Makes no new packs here, or does so again. */
    public void setLeaving(boolean now) {
        leaving = now;
    }

    /** Returns whether new packs are made here, as far as is known. */
    boolean takesPacks() {
        return !leaving && refusal() == null;
    }

    /**
     * Returns the numbers of the packs here.
     *
     * @throws IOException also if its disk is not there
     */
    public Set<Long> packs() throws IOException {
        Set<Long> packs = new HashSet<>();
        // Before and after: a folder without its disk has no pack.
        requirePresent();
        directory.forEach(name -> PackFormat.numberOf(name).ifPresent(packs::add));
        requirePresent();
        return packs;
    }

    /** Returns why a pack could not be made here a short while ago; null if nothing is known against it. */
    public @Nullable String refusal() {
        Refusal last = refusal;
        return last == null || System.nanoTime() - last.atNs > RETRY_NS ? null : last.reason;
    }

    /** Notes that a pack could not be made here. */
    private void refused(String reason) {
        if (refusal == null) {
            log.warn("{} takes no new pack: {}", this, reason);
        }
        refusal = new Refusal(reason, System.nanoTime());
    }

    /** Makes a pack here. */
    Output create(String name) throws IOException {
        try {
            if (!isPresent()) {
                // The folder may be on another disk now, which must not get packs.
                throw new IOException("it is not there: " + SystemError.NO_DEVICE_TEXT);
            }
            Output made = directory.create(name);
            refusal = null;
            return made;
        } catch (IOException e) {
            refused(String.valueOf(e.getMessage()));
            throw e;
        }
    }

    /** Returns whether it still says that it is a location of a volume: its disk may be gone. */
    public boolean isPresent() {
        try {
            return directory.exists(VolumeIdentity.NAME);
        } catch (IOException e) {
            log.debug("{} does not answer", directory, e);
            return false;
        }
    }

    /** @throws IOException if it is not {@link #isPresent there} */
    public void requirePresent() throws IOException {
        if (!isPresent()) {
            throw new IOException("the data location " + directory + " is not there: " + SystemError.NO_DEVICE_TEXT);
        }
    }

    /**
     * Tells a disk that is gone from one with a bad sector: a file system whose disk is gone still knows what is in
     * memory.
     *
     * @param failure why something here could not be read or changed
     * @throws IOException if nothing can be read here
     */
    private void requireAnswer(IOException failure) throws IOException {
        try (Input file = directory.open(VolumeIdentity.NAME)) {
            long bytes = file.length();
            file.forgetCached(0, bytes);
            file.readFully(0, ByteBuffer.allocate(Math.toIntExact(bytes)));
        } catch (IOException e) {
            failure.addSuppressed(e);
            String gone = "does not answer: " + SystemError.NO_DEVICE_TEXT;
            refused("it " + gone);
            throw new IOException("the data location " + directory + " " + gone, failure);
        }
    }

    /** Returns whether a change failed because the disk is gone, or read-only. */
    private boolean takesNoChange(IOException failure) {
        try {
            requireAnswer(failure);
            return SystemError.READ_ONLY.isIn(failure.getMessage());
        } catch (IOException gone) {
            return true;
        }
    }

    /** Makes names durable; fails nothing if the disk is gone, or read-only. */
    void syncIfPossible() throws IOException {
        try {
            directory.sync();
        } catch (IOException e) {
            if (!takesNoChange(e)) {
                throw e;
            }
            log.debug("{} is not synced", this, e);
        }
    }

    /** What is asked of the directory, or changed there. */
    @FunctionalInterface
    interface Call<T> {
        T of(Directory directory) throws IOException;
    }

    /** Makes a call; its failure says so if the disk is gone. */
    <T> T call(Call<T> call) throws IOException {
        try {
            return call.of(directory);
        } catch (NoSuchFileException | FileAlreadyExistsException | NoSpaceException e) {
            throw e;
        } catch (IOException e) {
            if (!NoAnswer.is(e)) {
                requireAnswer(e);
            }
            throw e;
        }
    }

    /** @param opening opens a file of that name */
    Input open(String name, Call<Input> opening) throws IOException {
        Input input = call(opening);
        if (directory instanceof RemoteDirectory || !isPack(name)) {
            return input; // What lies in an object store is read there again.
        }
        return new LocatedInput(input, () -> opening.of(directory), this::requireAnswer);
    }

    @Override
    public String toString() {
        return directory.toString();
    }
}
