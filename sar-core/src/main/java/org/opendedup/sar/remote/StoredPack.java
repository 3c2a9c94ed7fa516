package org.opendedup.sar.remote;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pack in the store: one object, or the tails of a pack that was never completed, because the machine that wrote it
 * is gone.
 *
 * @param objects the objects by the offset at which they begin
 * @param length bytes of the pack
 */
record StoredPack(String name, TreeMap<Long, String> objects, long length) {
    private static final Logger log = LoggerFactory.getLogger(StoredPack.class);

    /**
     * Asks the store for a pack.
     *
     * @throws NoSuchFileException if it has neither the pack nor a tail of it
     */
    static StoredPack find(ObjectStore store, String name) throws IOException {
        try {
            return whole(store, name);
        } catch (NoSuchFileException e) {
            log.trace("{} is not whole in {}", name, store, e);
        }
        List<ObjectPage.Entry> tails = tails(store, name);
        try {
            // Put meanwhile: then some of its tails may be missing in that list, or all.
            return whole(store, name);
        } catch (NoSuchFileException e) {
            return ofTails(store, name, tails);
        }
    }

    private static StoredPack whole(ObjectStore store, String name) throws IOException {
        return complete(name, store.status(PackNames.pack(name)).length());
    }

    static StoredPack complete(String name, long length) {
        return new StoredPack(name, new TreeMap<>(Map.of(0L, PackNames.pack(name))), length);
    }

    private static StoredPack ofTails(ObjectStore store, String name, List<ObjectPage.Entry> tails) throws IOException {
        Map<Long, Long> listed = new HashMap<>();
        tails.forEach(tail -> listed.put(PackNames.offsetOf(tail.name()), tail.length()));
        TreeMap<Long, String> objects = new TreeMap<>();
        long end = 0;
        long length = lengthOfTail(store, name, end, listed);
        while (length > 0) {
            objects.put(end, PackNames.tail(name, end));
            end += length;
            length = lengthOfTail(store, name, end, listed);
        }
        // What follows one that is missing is of no commit.
        if (objects.isEmpty()) {
            throw new NoSuchFileException(store + "/" + name);
        }
        return new StoredPack(name, objects, end);
    }

    /** Returns the length of the tail that begins at an offset; 0 if there is none. A list may lag behind a put. */
    private static long lengthOfTail(ObjectStore store, String name, long offset, Map<Long, Long> listed)
            throws IOException {
        Long known = listed.get(offset);
        if (known != null) {
            return known;
        }
        try {
            return store.status(PackNames.tail(name, offset)).length();
        } catch (NoSuchFileException e) {
            log.trace("{} has no tail from byte {} on in {}", name, offset, store, e);
            return 0;
        }
    }

    /** Returns the tails of a pack in the order of their offsets. */
    static List<ObjectPage.Entry> tails(ObjectStore store, String name) throws IOException {
        return store.listAll(PackNames.tails(name), "");
    }

    /** Returns whether this is one object, which never changes. */
    boolean isComplete() {
        return objects.size() == 1 && objects.firstEntry().getValue().equals(PackNames.pack(name));
    }

    /**
     * Fills {@code target} with the bytes from {@code offset} on.
     *
     * @throws EOFException if the pack ends before {@code target} is full
     */
    void read(ObjectStore store, long offset, ByteBuffer target) throws IOException {
        requireWithin(offset, target.remaining());
        int limit = target.limit();
        for (long at = offset; target.position() < limit; ) {
            Map.Entry<Long, String> object = objects.floorEntry(at);
            Long next = objects.higherKey(at);
            long end = next == null ? length : next;
            int bytes = (int) Math.min(limit - target.position(), end - at);
            target.limit(target.position() + bytes);
            store.read(object.getValue(), at - object.getKey(), target);
            target.limit(limit);
            at += bytes;
        }
    }

    void requireWithin(long offset, int bytes) throws EOFException {
        if (offset + bytes > length) {
            throw new EOFException(
                    name + " has " + length + " bytes; " + bytes + " from byte " + offset + " on were wanted");
        }
    }
}
