package org.opendedup.sar.keys;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.PrivateFiles;

/**
 * The two copies of a volume's key header: in its data location, and in its metadata location; of a volume in an object
 * store in the store, and in the data location. They are written one after the other, each as a whole, so that a crash
 * leaves at least one of them whole, and in each the old header or the new one. Of those that the master key
 * authenticates, the one with the highest generation counts.
 */
public final class KeyHeaderCopies {
    private static final String NEW_NAME = KeyHeader.NAME + AtomicFile.NEW;

    private final List<KeyHeaderPlace> places;

    /** @param folder null: it is missing, as when its disk is not mounted */
    private record Folder(String name, @Nullable Directory folder) implements KeyHeaderPlace {
        @Override
        public @Nullable String missing() {
            return folder == null ? "is its disk mounted?" : null;
        }

        private Directory present() {
            return Objects.requireNonNull(folder);
        }

        @Override
        public boolean exists() throws IOException {
            return folder != null && folder.exists(KeyHeader.NAME);
        }

        @Override
        public byte @Nullable [] read() throws IOException {
            if (!exists()) {
                return null;
            }
            try (Input file = present().open(KeyHeader.NAME)) {
                // Outside the heap, so that the directory makes none of its large buffers: a daemon looks every few
                // seconds.
                ByteBuffer read = ByteBuffer.allocateDirect((int) Math.min(file.length(), KeyHeader.MOST_BYTES + 1));
                file.readFully(0, read);
                byte[] bytes = new byte[read.flip().remaining()];
                read.get(bytes);
                return bytes;
            }
        }

        @Override
        public void prepare(KeyHeader header, @Nullable KeyHeader before) throws IOException {
            AtomicFile.prepare(present(), KeyHeader.NAME, ByteBuffer.wrap(header.bytes()));
        }

        @Override
        public void commit() throws IOException {
            present().rename(NEW_NAME, KeyHeader.NAME);
        }

        @Override
        public void sync() throws IOException {
            present().sync();
        }

        @Override
        public void discard() throws IOException {
            if (present().exists(NEW_NAME)) {
                present().delete(NEW_NAME);
            }
        }
    }

    /**
     * What is at one place.
     *
     * @param header null: none that can be used
     * @param fault why not; null: there is one
     */
    private record Copy(
            KeyHeaderPlace place,
            @Nullable KeyHeader header,
            @Nullable KeyException fault) {}

    private KeyHeaderCopies(List<KeyHeaderPlace> places) {
        this.places = places;
    }

    /** @param metadata null: the folder is missing */
    KeyHeaderCopies(Directory data, @Nullable Directory metadata) {
        this(List.of(new Folder("data", data), new Folder("metadata", metadata)));
    }

    /** Returns those in the locations of a volume; makes nothing. */
    public static KeyHeaderCopies in(Path data, Path metadata) throws IOException {
        return new KeyHeaderCopies(List.of(folder(data), folder(metadata)));
    }

    /**
     * Returns those of a volume in an object store: in the store, which is written first, and in the data location of
     * this machine.
     *
     * @param store address of the store
     */
    public static KeyHeaderCopies inStore(String store, Path data) throws IOException {
        return new KeyHeaderCopies(List.of(new StoredKeyHeader(store), folder(data)));
    }

    /** Returns the one in a folder alone: to look at it costs no request to a store. */
    public static KeyHeaderCopies inFolder(Path folder) throws IOException {
        return new KeyHeaderCopies(List.of(folder(folder)));
    }

    private static KeyHeaderPlace folder(Path folder) throws IOException {
        return new Folder(folder.toString(), Files.isDirectory(folder) ? FileDirectory.open(folder) : null);
    }

    /**
     * A header that was opened.
     *
     * @param faults what is wrong with its copies, in words
     */
    public record Unlocked(KeyHeader header, KeyHeader.Opened opened, List<String> faults) implements AutoCloseable {
        @Override
        public void close() {
            opened.close();
        }
    }

    /** What was found: at least one header. Which one counts is known only with the master key. */
    public static final class Found {
        private final List<Copy> copies;
        /** Those that differ; the highest generation first. */
        private final List<KeyHeader> headers = new ArrayList<>();

        private Found(List<Copy> copies) {
            this.copies = copies;
            for (Copy copy : copies) {
                KeyHeader header = copy.header;
                if (header != null && headers.stream().noneMatch(other -> isSame(header, other))) {
                    headers.add(header);
                }
            }
            headers.sort(Comparator.comparingLong(KeyHeader::generation).reversed());
        }

        /** Returns the one with the highest generation; nothing of it is authenticated. */
        public KeyHeader header() {
            return headers.get(0);
        }

        /**
         * Returns what is wrong with the copies, in words, as far as it can be told without the master key; empty: both
         * are the header.
         */
        public List<String> faults() {
            return faults(header(), null);
        }

        /** As {@link #faults()}, for who has the keys of the volume: also tells which copy somebody else changed. */
        public List<String> faults(VolumeKeys keys) {
            return headers.stream()
                    .filter(header -> header.isAuthentic(keys))
                    .findFirst()
                    .map(header -> faults(header, keys))
                    .orElseGet(() -> List.of(String.valueOf(KeyHeader.forged().getMessage())));
        }

        private List<String> faults(KeyHeader counts, @Nullable VolumeKeys keys) {
            List<String> faults = new ArrayList<>();
            for (Copy copy : copies) {
                if (copy.fault != null) {
                    faults.add(copy.place.file() + ": " + copy.fault.getMessage());
                } else if (copy.header != null && !isSame(copy.header, counts)) {
                    faults.add(copy.place.file() + ": " + difference(copy.header, counts, keys));
                }
            }
            return faults;
        }

        private static String difference(KeyHeader header, KeyHeader counts, @Nullable VolumeKeys keys) {
            if (keys != null && !header.isAuthentic(keys)) {
                return "somebody without the master key changed it: its checksum is right, and its keyed hash is wrong";
            }
            return "it is "
                    + (header.generation() < counts.generation()
                            ? "of an older generation than the other copy"
                            : "another header");
        }

        /**
         * Returns the header that counts.
         *
         * @throws KeyException if none is authenticated by this master key
         */
        public KeyHeader authentic(byte[] master) throws KeyException {
            for (KeyHeader header : headers) {
                if (header.isAuthentic(master)) {
                    return header;
                }
            }
            throw KeyHeader.forged();
        }

        /**
         * Returns the header that counts, as it is stored.
         *
         * @throws KeyException if none is authenticated by the volume's keys
         */
        public byte[] bytes(VolumeKeys keys) throws KeyException {
            return headers.stream()
                    .filter(header -> header.isAuthentic(keys))
                    .findFirst()
                    .orElseThrow(KeyHeader::forged)
                    .bytes()
                    .clone();
        }

        /**
         * Opens the header that counts. Somebody who has no key can write a copy with a higher generation: so the other
         * is tried too, and the one first that costs less, because a forged one may have slots that take minutes to
         * try. A secret that opens only an older copy is refused: it was changed or removed.
         *
         * @throws KeyException if no slot opens, or no copy is authentic
         * @throws IOException if the heap is too small for the cost of a slot
         */
        public Unlocked open(Secret secret) throws IOException {
            IOException failure = null;
            for (KeyHeader header : cheapestFirst()) {
                try {
                    KeyHeader.Opened opened = header.open(secret);
                    KeyHeader counts = authentic(opened.master());
                    if (!isSame(header, counts)) {
                        opened.close();
                        opened = counts.open(secret);
                    }
                    return new Unlocked(counts, opened, faults(counts, opened.keys()));
                } catch (IOException e) {
                    // That a newer copy is forged matters only if the other one does not open either.
                    failure = failure == null || isForgery(failure) ? e : failure;
                }
            }
            throw failure == null ? KeyHeader.forged() : failure;
        }

        /** Returns the headers in the order in which a secret is tried on them. */
        List<KeyHeader> cheapestFirst() {
            List<KeyHeader> ordered = new ArrayList<>(headers);
            ordered.sort(Comparator.comparingLong(KeyHeader::cost));
            return ordered;
        }

        private static boolean isForgery(IOException failure) {
            return failure instanceof KeyException e && e.reason() == KeyException.Reason.FORGED;
        }
    }

    private static boolean isSame(KeyHeader one, KeyHeader other) {
        return Arrays.equals(one.bytes(), other.bytes());
    }

    /**
     * Overwrites both copies of the header of a volume that is removed, and deletes them, before anything else: the
     * rest of a removal that is interrupted, or that a disk refuses, cannot be read. Overwrites each copy also if
     * another cannot be. Does nothing if there is none.
     */
    public static void erase(Path data, Path metadata) throws IOException {
        var closing = new Closing();
        for (Path folder : List.of(data, metadata)) {
            for (String name : List.of(KeyHeader.NAME, NEW_NAME)) {
                Path copy = folder.resolve(name);
                if (Files.isRegularFile(copy, LinkOption.NOFOLLOW_LINKS)) {
                    closing.run(() -> PrivateFiles.erase(copy, KeyHeader.MOST_BYTES));
                }
            }
        }
        closing.finish();
    }

    /** Returns whether there is a file of a key header, whatever is in it. */
    public boolean exist() throws IOException {
        for (KeyHeaderPlace place : places) {
            if (place.exists()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Reads both copies.
     *
     * @param volume whose header it is to be; null: that is not known
     * @throws KeyException if no copy can be used; its reason is the gravest of those of the copies
     */
    public Found read(@Nullable UUID volume) throws KeyException {
        List<Copy> copies = places.stream().map(place -> copy(place, volume)).toList();
        if (copies.stream().anyMatch(copy -> copy.header != null)) {
            return new Found(copies);
        }
        List<String> faults = new ArrayList<>();
        KeyException.Reason reason = KeyException.Reason.MISSING;
        for (Copy copy : copies) {
            KeyException fault = Objects.requireNonNull(copy.fault);
            faults.add(copy.place.file() + ": " + fault.getMessage());
            reason = fault.reason().compareTo(reason) > 0 ? fault.reason() : reason;
        }
        throw new KeyException(reason, String.join("; ", faults));
    }

    private static Copy copy(KeyHeaderPlace place, @Nullable UUID volume) {
        try {
            KeyHeader header = read(place);
            if (volume == null || header.volume().equals(volume)) {
                return new Copy(place, header, null);
            }
            return new Copy(
                    place,
                    null,
                    new KeyException(
                            KeyException.Reason.OTHER_VOLUME,
                            "it is that of volume " + header.volume() + ", and the data are those of volume "
                                    + volume));
        } catch (KeyException e) {
            return new Copy(place, null, e);
        } catch (IOException e) {
            return new Copy(
                    place,
                    null,
                    new KeyException(KeyException.Reason.UNREADABLE, "it cannot be read: " + e.getMessage()));
        }
    }

    private static KeyHeader read(KeyHeaderPlace place) throws IOException {
        String missing = place.missing();
        byte[] bytes = missing == null ? place.read() : null;
        if (bytes == null) {
            throw new KeyException(
                    KeyException.Reason.MISSING,
                    missing == null ? "it is missing" : "the folder is missing; " + missing);
        }
        return KeyHeader.read(bytes);
    }

    /**
     * Writes both copies; durable when it returns. After a crash, each copy is the old header or the new one. The bytes
     * are at both places before the first of them counts: so a folder that is missing, a full disk, and most faults of
     * a disk change nothing.
     *
     * @param before the header from which this one was made; null: it is the first one, or all copies are lost
     * @return which copy could not be written, in words; the header is in force by the other. Empty: both are written
     * @throws IOException if nothing was changed, as when another machine has changed {@code before} since
     */
    public List<String> write(KeyHeader header, @Nullable KeyHeader before) throws IOException {
        for (KeyHeaderPlace place : places) {
            requireReplaceable(place, header.volume());
        }
        try {
            for (KeyHeaderPlace place : places) {
                place.prepare(header, before);
            }
            places.get(0).commit();
        } catch (IOException e) {
            places.forEach(place -> discard(place, e));
            throw e;
        }
        List<String> failures = new ArrayList<>();
        for (KeyHeaderPlace place : places) {
            try {
                if (place != places.get(0)) {
                    place.commit();
                }
                place.sync();
            } catch (IOException e) {
                failures.add("the copy in " + place.name() + " could not be written: " + e.getMessage());
            }
        }
        return failures;
    }

    /** @throws IOException if a place is missing, or has a header that is not to be replaced */
    private static void requireReplaceable(KeyHeaderPlace place, UUID volume) throws IOException {
        KeyException fault = copy(place, volume).fault;
        String missing = place.missing();
        if (missing != null) {
            throw new IOException(place.name() + " is missing, and the key header has a copy there; " + missing);
        } else if (fault != null && stays(fault)) {
            throw new KeyException(
                    fault.reason(),
                    place.file() + ": " + fault.getMessage() + ". It is not replaced: move it away first");
        }
    }

    /** Returns whether somebody may need what is there: the header of another volume, or of a later program. */
    private static boolean stays(KeyException fault) {
        return fault.reason() == KeyException.Reason.OTHER_VOLUME
                || fault.reason() == KeyException.Reason.LATER_VERSION;
    }

    /**
     * Writes the copies that are missing, damaged, older or forged, or another header of the same generation. Does
     * nothing if a later header is there that the master key authenticates: then somebody has changed the header since
     * this one was read. One caller at a time.
     *
     * @param header an opened one: what was found is not to be trusted before
     * @return where one was written; passed over are a missing folder, and the header of another volume or a later
     *     program
     */
    public List<String> repair(KeyHeader header, byte[] master) throws IOException {
        List<Copy> wrong = new ArrayList<>();
        for (KeyHeaderPlace place : places) {
            Copy present = copy(place, header.volume());
            if (present.header == null) {
                if (place.missing() == null && !stays(Objects.requireNonNull(present.fault))) {
                    wrong.add(present);
                }
            } else if (present.header.generation() > header.generation() && present.header.isAuthentic(master)) {
                return List.of();
            } else if (!isSame(present.header, header)) {
                wrong.add(present);
            }
        }
        List<String> written = new ArrayList<>();
        for (Copy present : wrong) {
            KeyHeaderPlace place = present.place;
            // A forged one may say that it is later than all others.
            place.prepare(header, present.header == null ? header : present.header);
            place.commit();
            place.sync();
            written.add(place.file());
        }
        return written;
    }

    private static void discard(KeyHeaderPlace place, IOException because) {
        try {
            place.discard();
        } catch (IOException e) {
            because.addSuppressed(e);
        }
    }
}
