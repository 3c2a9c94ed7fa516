package org.opendedup.sar.io;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes the files and folders of a volume with access for their owner only, even if the process's umask would allow
 * more. Each holds bytes of many users, which the modes within the volume protect.
 */
public final class PrivateFiles {
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> FOLDER_ABOVE = PosixFilePermissions.fromString("rwxr-xr-x");

    private PrivateFiles() {}

    /** As {@link FileChannel#open(Path, OpenOption...)}; only the owner may access a file that this call creates. */
    public static FileChannel open(Path file, OpenOption... options) throws IOException {
        return FileChannel.open(file, Set.of(options), PosixFilePermissions.asFileAttribute(FILE));
    }

    /**
     * Writes a file, replacing the contents of an existing one, and returns when its bytes are durable. Its name may
     * not be durable yet.
     */
    public static void write(Path file, byte[] bytes) throws IOException {
        try (FileChannel channel =
                open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            writeAll(channel, bytes);
        }
    }

    private static void writeAll(FileChannel channel, byte[] bytes) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
            channel.write(left);
        }
        channel.force(true);
    }

    /**
     * Makes a new file and returns a stream to it.
     *
     * @throws FileAlreadyExistsException if there is something at that path
     */
    public static OutputStream createNew(Path file) throws IOException {
        return Channels.newOutputStream(open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    }

    /**
     * Overwrites all bytes of a file, and deletes it when what overwrites them is durable. The bytes are random,
     * because a disk may store none of zeros, and keep what was there. No link is followed. An SSD and a file system
     * that copies on write may keep the old bytes elsewhere.
     *
     * @param most bytes that are overwritten of a longer file
     */
    public static void erase(Path file, int most) throws IOException {
        byte[] random = new byte[(int) Math.min(Files.size(file), most)];
        new SecureRandom().nextBytes(random);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            writeAll(channel, random);
        }
        Files.delete(file);
    }

    /** Makes an empty file, or empties an existing one. */
    public static void createEmpty(Path file) throws IOException {
        open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
                .close();
    }

    /** Makes a folder; its parent must exist. */
    static void createFolder(Path folder) throws IOException {
        Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(FOLDER));
    }

    /** Deletes a folder with all that is in it; does nothing if it does not exist. */
    public static void deleteFolder(Path folder) throws IOException {
        if (Files.notExists(folder)) {
            return;
        }
        List<Path> all;
        try (Stream<Path> walk = Files.walk(folder)) {
            all = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.delete(path);
        }
    }

    /**
     * Makes a folder if it is missing, and its missing parents. The parents may serve others than the volume: other
     * users may access them as they may access the existing folder above, except for what the process's umask forbids,
     * as with {@code mkdir -p}. The daemon's umask is 077, so only the owner may access parents that the daemon makes.
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
