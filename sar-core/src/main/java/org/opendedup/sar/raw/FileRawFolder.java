package org.opendedup.sar.raw;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.PosixFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.RandomFile;

/**
 * Backing files in a folder of the fast tier: {@code raw/3f/0000000000013f00}, in 256 folders by the last byte of the
 * inode number. The file {@code raw/volume} has the volume's id, so that the folder of another volume, or an empty
 * mount point, is never taken for it.
 */
public final class FileRawFolder implements RawFolder {
    private static final String FOLDER = "raw";
    private static final String IDENTITY = "volume";
    private static final int SUBFOLDERS = 256;
    private static final int NAME_DIGITS = 16;

    private final Path folder;

    private FileRawFolder(Path folder) {
        this.folder = folder;
    }

    /** Makes an empty folder for a volume at a location of the fast tier; durable when it returns. */
    public static void create(Path location, UUID volume) throws IOException {
        Path folder = location.resolve(FOLDER);
        PrivateFiles.createFolders(folder);
        for (int i = 0; i < SUBFOLDERS; i++) {
            PrivateFiles.createFolders(folder.resolve(HexFormat.of().toHexDigits((byte) i)));
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
        Path folder = location.resolve(FOLDER);
        Path identity = folder.resolve(IDENTITY);
        if (!Files.exists(identity)) {
            throw new NoSuchFileException(
                    folder.toString(), null, "there are no raw files of a volume here; is a disk not mounted?");
        }
        String found = Files.readString(identity, US_ASCII).strip();
        if (!found.equals(volume.toString())) {
            throw new IOException("the raw files in " + folder + " belong to volume " + found + ", not to " + volume);
        }
        if (!PosixFile.isSupported()) {
            throw new IOException("raw files need calls of the C library, which cannot be loaded");
        }
        return new FileRawFolder(folder);
    }

    private Path path(long number) {
        String name = HexFormat.of().toHexDigits(number);
        return folder.resolve(name.substring(NAME_DIGITS - 4, NAME_DIGITS - 2)).resolve(name);
    }

    @Override
    public RandomFile create(long number) throws IOException {
        return PosixFile.create(path(number));
    }

    @Override
    public RandomFile open(long number) throws IOException {
        return PosixFile.open(path(number));
    }

    @Override
    public RandomFile.@Nullable Status status(long number) throws IOException {
        return PosixFile.status(path(number));
    }

    @Override
    public void delete(long number) throws IOException {
        Files.deleteIfExists(path(number));
    }

    @Override
    public boolean isAtRest(long number) throws IOException {
        return PosixFile.isAtRest(path(number));
    }

    @Override
    public void sync() throws IOException {
        PosixFile.forceFileSystem(folder);
    }

    @Override
    public void forEach(LongConsumer visitor) throws IOException {
        for (int i = 0; i < SUBFOLDERS; i++) {
            try (DirectoryStream<Path> files =
                    Files.newDirectoryStream(folder.resolve(HexFormat.of().toHexDigits((byte) i)))) {
                for (Path file : files) {
                    String name = file.getFileName().toString();
                    if (name.matches("[0-9a-f]{16}")) {
                        visitor.accept(HexFormat.fromHexDigitsToLong(name));
                    }
                }
            }
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return Files.getFileStore(folder).getUsableSpace();
    }

    @Override
    public void close() {
        // Nothing is held.
    }

    @Override
    public String toString() {
        return folder.toString();
    }
}
