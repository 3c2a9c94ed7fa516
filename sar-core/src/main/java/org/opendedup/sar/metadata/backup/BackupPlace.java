package org.opendedup.sar.metadata.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.handle.FileStatus;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.Mounts;
import org.opendedup.sar.io.handle.TrustedPath;
import org.opendedup.sar.io.handle.Writer;

/**
 * The folder with the backups of one volume, held open (docs/adr/0065). It has files of these backups alone, and the
 * file {@value #MARK}, which says so and whose they are: a folder that has files and not that mark belongs to somebody
 * else, and is refused. So is one into which another user can write, or whose file system another user serves: the
 * files that are written, removed and believed here would be that user's choice.
 *
 * <p>Folders above it may be others', who may put another folder in its place. That is why nothing here uses its path
 * after it was opened.
 */
public final class BackupPlace implements Closeable {
    /** Name of the folder of the automatic backups in a data location. */
    public static final String AUTOMATIC = "metadata-backups";

    /** Name of the mark, whose text has the version of the folder's format and the id of the volume. */
    static final String MARK = "SAR-METADATA-BACKUPS";

    private static final String NAME = "sar-metadata-";
    /** A folder with backups, in a folder that somebody named. */
    private static final Pattern NAMES = Pattern.compile(NAME + "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private static final int FOLDER = Libc.O_RDONLY | Libc.O_DIRECTORY;
    private static final int ROOT = 0;
    private static final int MOST_MARK_BYTES = 100;

    private final Handle handle;
    private final String shown;

    private BackupPlace(Handle handle, String shown) {
        this.handle = handle;
        this.shown = shown;
    }

    /** Returns the path of a volume's own folder in a folder that somebody named for backups. */
    public static Path in(Path named, UUID volume) {
        return named.resolve(NAME + volume);
    }

    /** Returns the names of the folders with backups, of any volume, in a folder that somebody named. */
    public static List<String> namesIn(Path named) throws IOException {
        try (Stream<Path> inside = Files.list(named)) {
            return inside.map(file -> file.getFileName().toString())
                    .filter(name -> NAMES.matcher(name).matches())
                    .sorted()
                    .toList();
        }
    }

    /**
     * Opens the folder of a volume's backups. Makes it if it is missing, and the folders above it.
     *
     * @param folder absolute path
     * @throws IOException if it cannot be trusted, or is not for the backups of this volume
     */
    public static BackupPlace make(Path folder, UUID volume) throws IOException {
        Libc posix = new Libc();
        try (Handle above = TrustedPath.make(posix, above(folder))) {
            byte[] name = name(folder);
            boolean isNew = posix.functions().mkdirat(above.fd(), Libc.terminated(name), 0700) == 0;
            if (!isNew && Libc.errno() != Errno.EEXIST) {
                throw posix.failure("making the folder", folder.toString());
            }
            Handle opened = opened(posix, above, name, folder.toString()).verified(handle -> {
                if (isNew) {
                    handle.removeAccessLists();
                }
                checkTrusted(posix, handle);
                mark(handle, volume);
            });
            return new BackupPlace(opened, folder.toString());
        }
    }

    /**
     * Opens the folder of a volume's backups if there is one, and changes nothing, but for the file of
     * {@link Writer#in}, which a folder of another user has for a moment.
     *
     * @param folder absolute path
     * @throws IOException if it cannot be trusted, or is not for the backups of this volume
     */
    public static Optional<BackupPlace> find(Path folder, UUID volume) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        Libc posix = new Libc();
        try (Handle above = TrustedPath.open(posix, above(folder))) {
            Handle opened = opened(posix, above, name(folder), folder.toString())
                    .verified(handle -> {
                        checkTrusted(posix, handle);
                        String found = markOf(handle);
                        if (!found.equals(markOf(volume)) && !isEmpty(handle)) {
                            throw foreign(handle, found);
                        }
                    });
            return Optional.of(new BackupPlace(opened, folder.toString()));
        }
    }

    private static byte[] name(Path folder) {
        // An absolute path that is not the root's has one.
        return String.valueOf(folder.getFileName()).getBytes(UTF_8);
    }

    private static Path above(Path folder) throws IOException {
        Path above = folder.getParent();
        if (above == null || !folder.isAbsolute()) {
            throw new IOException(folder + " is no absolute path of a folder for backups");
        }
        return above;
    }

    private static Handle opened(Libc posix, Handle above, byte[] name, String shown) throws IOException {
        Handle opened = above.at(name, FOLDER, 0, shown);
        if (opened != null) {
            return opened;
        }
        if (Libc.errno() == Errno.ENOTDIR || Libc.errno() == Errno.ELOOP) {
            throw new IOException(shown + " is a link or no folder: metadata are not backed up there");
        }
        throw posix.failure("opening", shown);
    }

    private static void checkTrusted(Libc posix, Handle handle) throws IOException {
        Mounts.checkTrusted(handle, posix.functions().geteuid());
        FileStatus status = handle.status();
        if (!status.isWrittenOnlyBy(ROOT) && !status.isWrittenOnlyBy(Writer.in(posix, handle))) {
            throw new IOException(handle + " can be written to by others: it belongs to user " + status.uid()
                    + " and has mode " + Integer.toOctalString(status.mode() & 07777)
                    + ". Look at what is there; then chown it to the user of this process, and: chmod go-rwx "
                    + handle);
        }
    }

    /** A folder that a power cut left between its making and its mark has nothing but a part of the mark. */
    private static void mark(Handle handle, UUID volume) throws IOException {
        String found = markOf(handle);
        if (found.equals(markOf(volume))) {
            return;
        }
        if (!isEmpty(handle)) {
            throw foreign(handle, found);
        }
        FileDirectory directory = FileDirectory.open(handle.path());
        if (directory.exists(MARK)) {
            directory.delete(MARK);
        }
        try (Output output = directory.create(MARK)) {
            output.append(ByteBuffer.wrap(markOf(volume).getBytes(US_ASCII)));
            output.force();
        }
        directory.sync();
        // The folders above it may be new, too.
        handle.syncFileSystem();
    }

    /** Returns whether a folder has nothing in it that would be lost with it. */
    private static boolean isEmpty(Handle handle) throws IOException {
        try (Stream<Path> inside = Files.list(handle.path())) {
            return inside.allMatch(file -> file.endsWith(MARK));
        }
    }

    private static String markOf(UUID volume) {
        return MARK + " " + BackupFormat.VERSION + " " + volume + "\n";
    }

    /** Returns the text of a folder's mark; empty if it has none. */
    private static String markOf(Handle handle) throws IOException {
        Path file = handle.path().resolve(MARK);
        if (!Files.isRegularFile(file) || Files.size(file) > MOST_MARK_BYTES) {
            return "";
        }
        return Files.readString(file, US_ASCII);
    }

    private static IOException foreign(Handle handle, String found) {
        String[] words = found.strip().split(" ", -1);
        if (words.length != 3 || !words[0].equals(MARK)) {
            return new IOException(handle + " has files and no whole file " + MARK + ", so it was not made for the"
                    + " backups of a volume's metadata in this format: move it away, or name another folder");
        }
        if (!words[1].equals(Integer.toString(BackupFormat.VERSION)) && words[1].matches("\\d{1,9}")) {
            return new UnsupportedFormatException(handle.toString(), Integer.parseInt(words[1]), BackupFormat.VERSION);
        }
        return new IOException(handle + " is for the backups of volume " + words[2]);
    }

    /**
     * Returns the backups. To be used until {@link #close}.
     *
     * @param keys as of {@link BackupFolder#BackupFolder(org.opendedup.sar.io.Directory, VolumeKeys)}
     */
    public BackupFolder backups(@Nullable VolumeKeys keys) throws IOException {
        return new BackupFolder(FileDirectory.open(handle.path()), shown, keys);
    }

    /** Returns a path that leads to this folder until {@link #close}, whatever is put in its place. */
    public Path path() {
        return handle.path();
    }

    /** Returns a failure whose message names the folder as people know it. */
    public IOException named(IOException failure) {
        String held = handle.path().toString();
        String message = String.valueOf(failure.getMessage());
        if (!message.contains(held)) {
            return failure;
        }
        String text = (failure instanceof FileSystemException ? failure.toString() : message).replace(held, shown);
        IOException named = failure instanceof NoSpaceException ? new NoSpaceException(text) : new IOException(text);
        named.initCause(failure);
        return named;
    }

    @Override
    public String toString() {
        return shown;
    }

    @Override
    public void close() {
        handle.close();
    }
}
