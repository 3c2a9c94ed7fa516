package org.opendedup.sar.remote;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;

/** Looks at the objects of packs in a store, whatever the metadata say of them. */
public final class PackObjects {
    /** So much is read at once, which a store divides into ranges that it reads at the same time. */
    private static final int READ_BYTES = 16 << 20;

    private final ObjectStore store;

    public PackObjects(ObjectStore store) {
        this.store = store;
    }

    /**
     * Reads each object whole, and compares it with the checksum that its writer stated.
     *
     * @return a sentence for each object whose bytes are not those that were put
     */
    public List<String> damaged(Progress progress) throws IOException {
        List<ObjectPage.Entry> all = new ArrayList<>(store.listAll(PackNames.PACKS, ""));
        all.removeIf(object -> !PackNames.isPack(object.name()));
        store.listAll(PackNames.TAILS, "").stream()
                .filter(object -> PackNames.isTail(object.name()))
                .forEach(all::add);
        long bytes = all.stream().mapToLong(ObjectPage.Entry::length).sum();
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(READ_BYTES, bytes));
        List<String> damaged = new ArrayList<>();
        long done = 0;
        for (ObjectPage.Entry object : all) {
            progress.at("objects in the store, in bytes", done, bytes);
            done += object.length();
            try {
                compare(object.name(), buffer);
            } catch (NoSuchFileException e) {
                continue; // The owner deleted it meanwhile. One that is needed is missed by the container table.
            } catch (CorruptionException | EOFException e) {
                damaged.add("the object " + store + "/" + object.name() + " is not what was put: " + e.getMessage());
            }
        }
        return damaged;
    }

    private void compare(String name, ByteBuffer buffer) throws IOException {
        ObjectStatus status = store.status(name);
        CRC32C crc = new CRC32C();
        for (long at = 0; at < status.length(); at += buffer.limit()) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), status.length() - at));
            store.read(name, at, buffer);
            crc.update(buffer.flip());
        }
        ObjectSource.compare(name, status.crc32c(), (int) crc.getValue());
    }

    /** Returns the names of tails of packs that are there whole: a crash left them, and nothing reads them. */
    public List<String> leftTails() throws IOException {
        Set<String> packs = store.listAll(PackNames.PACKS, "").stream()
                .map(pack -> pack.name().substring(PackNames.PACKS.length()))
                .collect(Collectors.toSet());
        return store.listAll(PackNames.TAILS, "").stream()
                .map(ObjectPage.Entry::name)
                .filter(tail -> packs.contains(PackNames.packOf(tail)))
                .toList();
    }

    /** Deletes {@link #leftTails}, as the owner of the volume; returns how many there were. */
    public int deleteLeftTails() throws IOException {
        List<String> tails = leftTails();
        for (int from = 0; from < tails.size(); from += ObjectStore.MOST_NAMES) {
            store.delete(tails.subList(from, Math.min(tails.size(), from + ObjectStore.MOST_NAMES)));
        }
        return tails.size();
    }
}
