package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes the files and folders of a volume: for their owner only, however wide the process's umask is. Each holds bytes of many users,
 * which the modes within the volume protect.
 */
public final class PrivateFiles {
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> FOLDER_ABOVE = PosixFilePermissions.fromString("rwxr-xr-x");

    private PrivateFiles() {}

    /** As {@link FileChannel#open(Path, OpenOption...)}; a file that this makes is its owner's only. */
    public static FileChannel open(Path file, OpenOption... options) throws IOException {
        return FileChannel.open(file, Set.of(options), PosixFilePermissions.asFileAttribute(FILE));
    }

    /** Makes an empty file if there is none; one that is there stays as it is. */
    public static void createFile(Path file) throws IOException {
        open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
    }

    /** Makes a folder; the one above it must exist. */
    public static void createFolder(Path folder) throws IOException {
        Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(FOLDER));
    }

    /**
     * Makes a folder, if it is missing, and the ones above it that are. Those are not of the volume alone: others may go through
     * them as they may through the folder where they are made, but for what the process's umask forbids, as with {@code mkdir -p}. So it is
     * their owner only who goes through what the daemon makes, whose umask is 077.
     */
    public static void createFolders(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        createAbove(folder.toAbsolutePath().getParent());
        create(folder, FOLDER);
    }

    private static void createAbove(@Nullable Path folder) throws IOException {
        Path above = folder == null ? null : folder.getParent();
        if (folder == null || above == null || Files.isDirectory(folder)) {
            return;
        }
        createAbove(above);
        Set<PosixFilePermission> mode = EnumSet.copyOf(FOLDER_ABOVE);
        mode.retainAll(Files.getPosixFilePermissions(above));
        mode.addAll(FOLDER);
        create(folder, mode);
    }

    private static void create(Path folder, Set<PosixFilePermission> mode) throws IOException {
        FileAttribute<Set<PosixFilePermission>> attribute = PosixFilePermissions.asFileAttribute(mode);
        try {
            Files.createDirectory(folder, attribute);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
        }
    }
}
