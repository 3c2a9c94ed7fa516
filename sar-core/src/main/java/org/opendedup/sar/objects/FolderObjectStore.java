package org.opendedup.sar.objects;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.Causes;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.UnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder as an object store, also one of a server that several machines mount (NFS), or of HDFS. Needs a directory
 * with {@link Directory#link}: a file system with hard links, for example. The object {@code a/b} is the file
 * {@code a/b~}, so that {@code a/b/c} can be one too.
 *
 * <p>Bytes are written to a file of {@value #UNFINISHED}, forced, and get their name by a hard link, which is atomic
 * and refuses a name that is taken, on NFS too.
 *
 * <p>Version n of an object that is replaced is the file {@code NAME@n}, n in 16 hexadecimal digits; the highest number
 * is the present version. To replace version n is to make the file n + 1 by a link, which one alone can. So a process
 * that is stopped between two steps holds no lock. The last {@value #KEPT_VERSIONS} versions stay: as long as file n +
 * 1 cannot have been removed, a link that made it was the first.
 */
public final class FolderObjectStore implements ObjectStore, ReplaceableObjects {
    private static final Logger log = LoggerFactory.getLogger(FolderObjectStore.class);

    /**
     * Folder with files that have no name as an object yet. Their names begin with the time, in milliseconds since 1970
     * and 16 hexadecimal digits.
     */
    static final String UNFINISHED = ".unfinished/";

    /** Number of versions that stay: 1 MiB. Only who is slower by as many does not know whether it was the first. */
    static final int KEPT_VERSIONS = 256;

    private static final String ONCE = "~";
    private static final char VERSION = '@';
    /** Of a version. A file whose name goes on in another way after the sign is of another program. */
    private static final Pattern NUMBER = Pattern.compile("[0-7][0-9a-f]{15}");

    private static final int COPY_BYTES = 256 << 10;
    /** Tries to read the present version, each after a newer one had removed it. */
    private static final int MOST_TRIES = 100;

    private final Directory directory;

    /** A directory as an object store; needs its {@link Directory#link}. */
    public FolderObjectStore(Directory directory) {
        this.directory = directory;
    }

    /**
     * Opens a folder as an object store.
     *
     * @throws NoSuchFileException if there is no folder: one that is not mounted must not look empty
     */
    public static FolderObjectStore open(Path folder) throws IOException {
        return new FolderObjectStore(FileDirectory.open(folder));
    }

    /** Makes a call; tells failures of a network file system that another try may not have. */
    private static <T> T answered(Answer<T> call) throws IOException {
        try {
            return call.get();
        } catch (IOException e) {
            if (NoAnswer.is(e)
                    && !Causes.include(
                            e, AccessDeniedException.class, ClosedChannelException.class, UnavailableException.class)) {
                throw new UnavailableException(String.valueOf(e.getMessage()), e);
            }
            throw e;
        }
    }

    private static String fileOf(String name) {
        return ObjectNames.checked(name) + ONCE;
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        String file = fileOf(name);
        answered(() -> {
            give(file, source);
            return name;
        });
    }

    /** Makes a file with the bytes of an object, durably. */
    private void give(String file, ObjectSource source) throws IOException {
        String written = write(source);
        try {
            try {
                directory.link(written, file);
            } catch (FileAlreadyExistsException e) {
                // A server makes a link twice if its first answer is lost.
                if (!statusOf(file).token().equals(source.token())) {
                    throw e;
                }
            }
            secure(file);
        } finally {
            deleteUnfinished(written);
        }
    }

    private void secure(String file) throws IOException {
        try {
            directory.sync();
            directory.checkName(file);
        } catch (IOException e) {
            // Others would rely on a name that a power cut can remove.
            deleteUnfinished(file);
            throw e;
        }
    }

    /** Writes the bytes to a file without a name as an object; returns its name. */
    private String write(ObjectSource source) throws IOException {
        String written = UNFINISHED + HexFormat.of().toHexDigits(System.currentTimeMillis()) + "-" + UUID.randomUUID();
        try {
            try (Output output = directory.create(written);
                    InputStream bytes = source.open()) {
                byte[] some = new byte[(int) Math.max(1, Math.min(COPY_BYTES, source.length()))];
                for (int read = bytes.read(some); read >= 0; read = bytes.read(some)) {
                    output.append(ByteBuffer.wrap(some, 0, read));
                }
                output.append(FolderObject.trailer(new ObjectStatus(source.length(), source.crc32c(), source.token())));
                output.force();
            }
            return written;
        } catch (IOException | RuntimeException e) {
            deleteUnfinished(written);
            throw e;
        }
    }

    /** Deletes a file whose presence harms nobody, if that is possible. */
    private void deleteUnfinished(String file) {
        try {
            directory.delete(file);
        } catch (IOException e) {
            log.debug("{}/{} stays", directory, file, e);
        }
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        String file = fileOf(name);
        answered(() -> {
            try (Input input = directory.open(file)) {
                long length = FolderObject.length(file, input.length());
                if (offset + target.remaining() > length) {
                    throw new EOFException(name + " in " + directory + " has " + length + " bytes, wanted up to "
                            + (offset + target.remaining()));
                }
                input.readFully(offset, target);
                return name;
            }
        });
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        String file = fileOf(name);
        return answered(() -> statusOf(file));
    }

    private ObjectStatus statusOf(String file) throws IOException {
        try (Input input = directory.open(file)) {
            return FolderObject.status(directory + "/" + file, input);
        }
    }

    @Override
    public ObjectPage list(String prefix, String after, int limit) throws IOException {
        ObjectNames.checkedPrefix(prefix);
        return answered(() -> {
            List<ObjectPage.Entry> found = new ArrayList<>();
            boolean isLast = visit("", new Range(prefix, after), limit, found);
            return new ObjectPage(found, isLast);
        });
    }

    /** The names that begin with a prefix and are greater than another. */
    private record Range(String prefix, String after) {
        boolean has(String name) {
            return name.startsWith(prefix) && name.compareTo(after) > 0;
        }

        /** Returns whether there can be a name that begins with {@code folder}, which ends with a slash. */
        boolean mayBegin(String folder) {
            return (folder.startsWith(prefix) || prefix.startsWith(folder))
                    && (folder.compareTo(after) > 0 || after.startsWith(folder));
        }
    }

    /** Adds the names of a folder, in order; returns false if the limit was reached and another name follows. */
    private boolean visit(String folder, Range range, int limit, List<ObjectPage.Entry> found) throws IOException {
        for (Map.Entry<String, String> each : entries(folder, range).entrySet()) {
            if (each.getValue().endsWith("/")) {
                if (!visit(each.getValue(), range, limit, found)) {
                    return false;
                }
            } else if (found.size() == limit) {
                return false;
            } else {
                add(each.getKey(), each.getValue(), found);
            }
        }
        return true;
    }

    private void add(String name, String file, List<ObjectPage.Entry> found) throws IOException {
        try {
            // A file that is too short is a damaged object. It must not hide the others.
            long length = Math.max(0, directory.length(file) - FolderObject.TRAILER_BYTES);
            found.add(new ObjectPage.Entry(name, length));
        } catch (NoSuchFileException e) {
            log.debug("{} was deleted while its folder was read", file, e);
        }
    }

    /**
     * Returns the entries of a folder that are in a range, or may have some: files and folders, the latter with a slash
     * at the end, in the order of the names of objects.
     */
    private NavigableMap<String, String> entries(String folder, Range range) throws IOException {
        NavigableMap<String, String> entries = new TreeMap<>();
        for (String entry : entries(folder)) {
            int version = entry.indexOf(VERSION);
            if (entry.endsWith(ONCE) || version >= 0) {
                String name = folder + entry.substring(0, version >= 0 ? version : entry.length() - 1);
                if (range.has(name) && ObjectNames.isName(name)) {
                    entries.put(name, folder + entry);
                }
            } else if (ObjectNames.isName(folder + entry) && range.mayBegin(folder + entry + "/")) {
                entries.put(folder + entry + "/", folder + entry + "/");
            }
        }
        return entries;
    }

    /** Returns the entries of a folder; none if it is a file, which another program has put there. */
    private Collection<String> entries(String folder) throws IOException {
        try {
            return directory.entries(folder);
        } catch (NotDirectoryException e) {
            log.debug("{} in {} is no folder", folder, directory, e);
            return List.of();
        }
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        List<String> files = names.stream().map(FolderObjectStore::fileOf).toList();
        answered(() -> {
            for (String file : files) {
                if (!deleteFile(file)) {
                    String name = file.substring(0, file.length() - ONCE.length());
                    // The present version last: an earlier one must never look present.
                    for (long number : versions(name)) {
                        deleteFile(fileOf(name, number));
                    }
                }
            }
            directory.sync();
            return names;
        });
    }

    private boolean deleteFile(String file) throws IOException {
        try {
            directory.delete(file);
            return true;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public void removeUnfinished(Instant before) throws IOException {
        String end = HexFormat.of().toHexDigits(before.toEpochMilli());
        answered(() -> {
            for (String file : directory.entries(UNFINISHED)) {
                if (file.compareTo(end) < 0) {
                    deleteFile(UNFINISHED + file);
                }
            }
            return end;
        });
    }

    @Override
    public Optional<ReplaceableObjects> replaceable() {
        return Optional.of(this);
    }

    private static String fileOf(String name, long number) {
        return name + VERSION + HexFormat.of().toHexDigits(number);
    }

    /** Returns the numbers of the versions of an object. */
    private NavigableSet<Long> versions(String name) throws IOException {
        NavigableSet<Long> versions = new TreeSet<>();
        int folder = name.lastIndexOf('/') + 1;
        String begin = name.substring(folder) + VERSION;
        for (String entry : directory.entries(name.substring(0, folder))) {
            if (entry.startsWith(begin)
                    && NUMBER.matcher(entry.substring(begin.length())).matches()) {
                versions.add(HexFormat.fromHexDigitsToLong(entry.substring(begin.length())));
            }
        }
        return versions;
    }

    @Override
    public Optional<Version> current(String name) throws IOException {
        ObjectNames.checked(name);
        return answered(() -> {
            for (int tries = 0; tries < MOST_TRIES; tries++) {
                NavigableSet<Long> versions = versions(name);
                if (versions.isEmpty()) {
                    return Optional.empty();
                }
                try {
                    return Optional.of(read(name, versions.last()));
                } catch (NoSuchFileException e) {
                    log.debug("{} was replaced while it was read", name, e);
                }
            }
            throw new UnavailableException(name + " in " + directory + " is replaced too often to be read");
        });
    }

    private Version read(String name, long number) throws IOException {
        String file = fileOf(name, number);
        try (Input input = directory.open(file)) {
            ObjectStatus status = FolderObject.status(directory + "/" + file, input);
            if (status.length() > MOST_BYTES) {
                throw new CorruptionException(
                        directory + "/" + file, -1, "at most " + MOST_BYTES + " bytes", status.length() + " bytes");
            }
            byte[] contents = new byte[(int) status.length()];
            input.readFully(0, ByteBuffer.wrap(contents));
            ObjectSource.compare(
                    directory + "/" + file,
                    status.crc32c(),
                    ObjectSource.of(contents).crc32c());
            return new Version(versionOf(number, status.token()), status.token(), contents);
        }
    }

    private static String versionOf(long number, UUID token) {
        return HexFormat.of().toHexDigits(number) + VERSION + token;
    }

    @Override
    public String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
        ObjectNames.checked(name);
        ReplaceableObjects.check(contents);
        return answered(() -> {
            Optional<Version> current = current(name);
            if (!Optional.ofNullable(expected).equals(current.map(Version::version))) {
                throw new VersionChangedException(name + " in " + directory);
            }
            return makeSuccessor(name, expected, token, contents);
        });
    }

    /** The second step of a replacement, after the present version was found to be the expected one. */
    String makeSuccessor(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
        long number = 1 + (expected == null ? 0 : numberOf(expected));
        ObjectSource bytes = ObjectSource.of(contents);
        try {
            give(fileOf(name, number), new ObjectSource(bytes.length(), bytes.crc32c(), token, bytes.opening()));
        } catch (FileAlreadyExistsException e) {
            throw new VersionChangedException(name + " in " + directory);
        }
        removeEarlier(name, number);
        return versionOf(number, token);
    }

    private static long numberOf(String version) {
        return HexFormat.fromHexDigitsToLong(version.substring(0, version.indexOf(VERSION)));
    }

    /** Removes versions that are too old, after a version was made. */
    private void removeEarlier(String name, long made) throws IOException {
        NavigableSet<Long> versions = versions(name);
        long present = versions.isEmpty() ? made : versions.last();
        if (present - made >= KEPT_VERSIONS) {
            deleteUnfinished(fileOf(name, made));
            throw new UnavailableException(name + " in " + directory + " was replaced " + (present - made)
                    + " times while this process replaced it, so it does not know whether it was the first");
        }
        for (long number : versions.headSet(present - KEPT_VERSIONS + 1)) {
            deleteUnfinished(fileOf(name, number));
        }
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
        return directory.toString();
    }
}
