package org.opendedup.sar.raw;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.io.PosixFile;
import org.opendedup.sar.io.PosixFolder;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.RandomFile;

/**
 * Backing files in a folder of the fast tier: {@code raw/3f/0000000000013f00}, in 256 folders by the last byte of the
 * inode number. The file {@code raw/volume} has the volume's id, so that the folder of another volume, or an empty
 * mount point, is never taken for it.
 *
 * <p>The folder is held open until {@link #close}, so its device cannot be unmounted before. A file counts as missing
 * only if the folder still is that of the volume: else every access fails.
 */
public final class FileRawFolder implements RawFolder {
    private static final String FOLDER = "raw";
    private static final String IDENTITY = "volume";
    private static final String EPOCH = "epoch";
    private static final int SUBFOLDERS = 256;
    private static final int NAME_DIGITS = 16;
    /** More bytes than {@link #IDENTITY} has. */
    private static final int IDENTITY_BYTES = 64;

    private final PosixFolder folder;
    private final UUID volume;

    private FileRawFolder(PosixFolder folder, UUID volume) {
        this.folder = folder;
        this.volume = volume;
    }

    /**
     * Makes an empty folder for a volume at a location of the fast tier; durable when it returns.
     *
     * @param epoch the epoch in which it is going to be used; null if it was in none
     */
    public static void create(Path location, UUID volume, @Nullable Epoch epoch) throws IOException {
        Path folder = location.resolve(FOLDER);
        PrivateFiles.createFolders(folder);
        for (int i = 0; i < SUBFOLDERS; i++) {
            PrivateFiles.createFolders(folder.resolve(HexFormat.of().toHexDigits((byte) i)));
        }
        if (epoch != null) {
            PrivateFiles.write(folder.resolve(EPOCH), epoch.toRecord());
        }
        PosixFile.forceFileSystem(folder);
        // Last, because it says that the folder is complete.
        PrivateFiles.write(folder.resolve(IDENTITY), volume.toString().getBytes(US_ASCII));
        PosixFile.forceFileSystem(folder);
    }

    /** Returns whether a location has a folder of raw files, of whatever volume. */
    public static boolean exists(Path location) {
        return Files.exists(location.resolve(FOLDER).resolve(IDENTITY));
    }

    /**
     * Opens the folder of a volume.
     *
     * @throws NoSuchFileException if there is none: the device is not mounted, or was replaced
     * @throws IOException if it belongs to another volume, or this machine cannot use it
     */
    public static FileRawFolder open(Path location, UUID volume) throws IOException {
        if (!PosixFile.isSupported()) {
            throw new IOException("raw files need calls of the C library, which cannot be loaded");
        }
        Path path = location.resolve(FOLDER);
        try {
            FileRawFolder opened = new FileRawFolder(PosixFolder.of(path), volume);
            try {
                opened.checkIdentity();
                return opened;
            } catch (IOException e) {
                opened.close();
                throw e;
            }
        } catch (NoSuchFileException e) {
            throw new NoSuchFileException(
                    path.toString(), null, "there are no raw files of a volume here; is a disk not mounted?");
        }
    }

    private void checkIdentity() throws IOException {
        String found = new String(folder.read(Path.of(IDENTITY), IDENTITY_BYTES), US_ASCII).strip();
        if (!found.equals(volume.toString())) {
            throw new IOException("the raw files in " + folder + " belong to volume " + found + ", not to " + volume);
        }
    }

    /** Throws unless a file that was not found is missing: that is, unless this is the folder of the volume. */
    private void checkMissing() throws IOException {
        try {
            checkIdentity();
        } catch (NoSuchFileException e) {
            throw new IOException(folder + " is not a folder of raw files any more: " + e.getMessage() + " is gone");
        }
    }

    private static Path path(long number) {
        String name = HexFormat.of().toHexDigits(number);
        return Path.of(name.substring(NAME_DIGITS - 4, NAME_DIGITS - 2), name);
    }

    @Override
    public @Nullable Epoch epoch() throws IOException {
        try {
            return Epoch.ofRecord(folder.read(Path.of(EPOCH), IDENTITY_BYTES));
        } catch (NoSuchFileException e) {
            checkMissing();
            return null;
        }
    }

    @Override
    public void setEpoch(Epoch used) throws IOException {
        // In place: it is within a sector, so a power cut leaves the one or the other.
        boolean isNew = folder.status(Path.of(EPOCH)) == null;
        try (RandomFile file = isNew ? folder.create(Path.of(EPOCH)) : folder.open(Path.of(EPOCH))) {
            file.write(0, ByteBuffer.wrap(used.toRecord()));
            file.force();
        }
        if (isNew) {
            folder.forceFileSystem();
        }
    }

    @Override
    public RandomFile create(long number) throws IOException {
        return folder.create(path(number));
    }

    @Override
    public RandomFile open(long number) throws IOException {
        try {
            return folder.open(path(number));
        } catch (NoSuchFileException e) {
            checkMissing();
            throw e;
        }
    }

    @Override
    public RandomFile.@Nullable Status status(long number) throws IOException {
        RandomFile.Status status = folder.status(path(number));
        if (status == null) {
            checkMissing();
        }
        return status;
    }

    @Override
    public void delete(long number) throws IOException {
        folder.delete(path(number));
    }

    @Override
    public boolean isAtRest(long number) throws IOException {
        return folder.isAtRest(path(number));
    }

    @Override
    public boolean isUnused(long number) throws IOException {
        return folder.isUnused(path(number));
    }

    @Override
    public void sync() throws IOException {
        folder.forceFileSystem();
    }

    @Override
    public void forEach(LongConsumer visitor) throws IOException {
        for (int i = 0; i < SUBFOLDERS; i++) {
            folder.forEach(Path.of(HexFormat.of().toHexDigits((byte) i)), name -> {
                if (name.matches("[0-9a-f]{16}")) {
                    visitor.accept(HexFormat.fromHexDigitsToLong(name));
                }
            });
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return folder.usableBytes();
    }

    @Override
    public void close() {
        folder.close();
    }

    @Override
    public String toString() {
        return folder.toString();
    }
}
