package org.opendedup.sar.objects;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;

/**
 * A store of objects: named bytes that are put once and never change. Other processes and machines may use it at the
 * same time. Safe for use by many threads.
 *
 * <p><b>Names</b> are those of {@link ObjectNames}. Another name is an {@link IllegalArgumentException}.
 *
 * <p><b>What is atomic and when it is seen:</b> an object has its name with all its bytes, or does not have it. When a
 * put has returned, the object is durable, and every read and status sees it. A list sees it too if the store says so:
 * folders and S3 do. A gateway may let a list lag, so nothing may be concluded from a name that a list lacks; ask for
 * its {@link #status} instead.
 *
 * <p><b>Errors</b>, of all calls:
 *
 * <ul>
 *   <li>{@link java.nio.file.NoSuchFileException}: there is no object of that name;
 *   <li>{@link java.nio.file.FileAlreadyExistsException}: the name is taken;
 *   <li>{@link VersionChangedException}: it is not the version that was to be replaced;
 *   <li>{@link java.nio.file.AccessDeniedException}: the store refuses the request, with these credentials or with any;
 *       it says nothing about what is stored;
 *   <li>{@link org.opendedup.sar.io.UnavailableException}: the store did not answer within its time limit, or cannot
 *       now. Worth another try. A change that ended so may have been made;
 *   <li>{@link CorruptionException}: bytes are not those that were stated;
 *   <li>any other {@link IOException}: another try would fail in the same way.
 * </ul>
 *
 * {@link org.opendedup.sar.io.NoAnswer} says which of them tell nothing about what is stored.
 */
public interface ObjectStore extends Closeable {
    /** Most names of a page of a list, and of one request to delete; S3 has the same bound. */
    int MOST_NAMES = 1000;

    /**
     * Makes an object. Of several puts of a name, in any process, one alone succeeds. The bytes are compared with their
     * stated length and checksum on the way, by the sender at least, and by the store where it can.
     *
     * @throws java.nio.file.FileAlreadyExistsException if the name is taken, also by an earlier try of this put: the
     *     token in its {@link #status} tells
     * @throws CorruptionException if the bytes are not those that {@code source} stated; no object is made
     */
    void put(String name, ObjectSource source) throws IOException;

    /**
     * Fills {@code target} with the bytes of an object from {@code offset} on. They are not compared with the object's
     * checksum, which is that of all its bytes. After a failure, the contents of {@code target} are undefined.
     *
     * @throws java.io.EOFException if the object ends before {@code target} is full
     */
    void read(String name, long offset, ByteBuffer target) throws IOException;

    /** Returns what is stated of an object. */
    ObjectStatus status(String name) throws IOException;

    /** Returns when an object was put, by the clock of the store; empty if it does not say. */
    default Optional<Instant> madeAt(String name) throws IOException {
        return Optional.empty();
    }

    /**
     * Returns the objects whose names begin with {@code prefix} and are greater than {@code after}, in the order of the
     * bytes of their names. Objects that are made or deleted meanwhile may be missing. Those whose names are none of
     * {@link ObjectNames}, as other programs put them, are left out.
     *
     * @param prefix what names begin with; need not end at a {@code /}; may be empty
     * @param after the last name of the page before; empty for the first page
     * @param limit most objects of the page, 1 to {@value #MOST_NAMES}
     */
    ObjectPage list(String prefix, String after, int limit) throws IOException;

    /** Returns all objects that {@link #list} has, page by page: holds them in memory. */
    default List<ObjectPage.Entry> listAll(String prefix, String after) throws IOException {
        List<ObjectPage.Entry> all = new ArrayList<>();
        String last = after;
        ObjectPage page;
        do {
            page = list(prefix, last, MOST_NAMES);
            all.addAll(page.objects());
            last = all.isEmpty() ? last : all.get(all.size() - 1).name();
        } while (!page.isLast());
        return all;
    }

    /**
     * Returns the first name that {@link #list} has and {@code isWanted} takes; empty if there is none. Other programs
     * may put objects below the prefix of a volume: who asks whether something follows must pass these over.
     */
    default Optional<String> first(String prefix, String after, Predicate<String> isWanted) throws IOException {
        String last = after;
        int limit = 1;
        ObjectPage page;
        do {
            page = list(prefix, last, limit);
            for (String name : page.names()) {
                if (isWanted.test(name)) {
                    return Optional.of(name);
                }
                last = name;
            }
            limit = MOST_NAMES;
        } while (!page.isLast());
        return Optional.empty();
    }

    /**
     * Deletes objects. Does nothing for a name that no object has. After a failure, any of them may be deleted. A read
     * that runs may end in either way.
     */
    void delete(Collection<String> names) throws IOException;

    /**
     * Removes what puts left in the store that never ended, and that has no name: it takes space that no list shows.
     *
     * @param before only what was begun before, by the clock of the store; a put that still runs must not be older
     */
    void removeUnfinished(Instant before) throws IOException;

    /** Returns how small objects are replaced here; empty if the store has no atomic way to do so. */
    default Optional<ReplaceableObjects> replaceable() {
        return Optional.empty();
    }

    /** Returns how an object is put in parts at the same time; empty if the store has no use for that. */
    default Optional<ObjectParts> parts() {
        return Optional.empty();
    }

    /**
     * Returns all bytes of an object, which are compared with its checksum.
     *
     * @param limit most bytes that the object may have
     * @throws CorruptionException if it has more, or if they are not those that were put
     */
    default byte[] readWhole(String name, int limit) throws IOException {
        ObjectStatus status = status(name);
        if (status.length() > limit) {
            throw new CorruptionException(name, -1, "at most " + limit + " bytes", status.length() + " bytes");
        }
        byte[] bytes = new byte[(int) status.length()];
        read(name, 0, ByteBuffer.wrap(bytes));
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        ObjectSource.compare(name, status.crc32c(), (int) crc.getValue());
        return bytes;
    }

    /** Returns where this store is, as an administrator would name it; for messages. Has no credentials. */
    @Override
    String toString();
}
