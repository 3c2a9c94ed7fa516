package org.opendedup.sar.keys;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;

/**
 * The two copies of a volume's key header: in its data location, and in its metadata location. They are written one
 * after the other, each as a whole, so that a crash leaves at least one of them whole, and in each the old header or
 * the new one. The one with the higher generation counts.
 */
public final class KeyHeaderCopies {
    private static final String NEW_NAME = KeyHeader.NAME + ".new";

    private final List<Place> places;

    /** @param folder null: it is missing, as when its disk is not mounted */
    private record Place(String name, @Nullable Directory folder) {}

    private KeyHeaderCopies(List<Place> places) {
        this.places = places;
    }

    KeyHeaderCopies(Directory data, Directory metadata) {
        this(List.of(new Place(data.toString(), data), new Place(metadata.toString(), metadata)));
    }

    /** Returns those in the locations of a volume; makes nothing. */
    public static KeyHeaderCopies in(Path data, Path metadata) throws IOException {
        List<Place> places = new ArrayList<>();
        for (Path folder : List.of(data, metadata)) {
            places.add(new Place(folder.toString(), Files.isDirectory(folder) ? FileDirectory.open(folder) : null));
        }
        return new KeyHeaderCopies(places);
    }

    /**
     * What was found.
     *
     * @param header the one that counts
     * @param faults what is wrong with the copies, in words; empty: both are the header
     */
    public record Found(KeyHeader header, List<String> faults) {}

    /** Returns whether there is a file of a key header, whatever is in it. */
    public boolean exist() throws IOException {
        for (Place place : places) {
            if (place.folder != null && place.folder.exists(KeyHeader.NAME)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Reads both copies.
     *
     * @throws KeyException if no copy can be used
     */
    public Found read() throws KeyException {
        KeyHeader best = null;
        List<@Nullable KeyHeader> headers = new ArrayList<>();
        List<String> faults = new ArrayList<>();
        KeyException.Reason reason = KeyException.Reason.MISSING;
        for (Place place : places) {
            KeyHeader header = null;
            try {
                header = read(place);
            } catch (KeyException e) {
                faults.add(place.name + "/" + KeyHeader.NAME + ": " + e.getMessage());
                reason = e.reason() == KeyException.Reason.MISSING ? reason : e.reason();
            } catch (IOException e) {
                faults.add(place.name + "/" + KeyHeader.NAME + " cannot be read: " + e.getMessage());
                reason = KeyException.Reason.DAMAGED;
            }
            headers.add(header);
            if (header != null && (best == null || header.generation() > best.generation())) {
                best = header;
            }
        }
        if (best == null) {
            throw new KeyException(reason, String.join("; ", faults));
        }
        for (int i = 0; i < headers.size(); i++) {
            KeyHeader header = headers.get(i);
            if (header != null && !Arrays.equals(header.bytes(), best.bytes())) {
                faults.add(places.get(i).name + "/" + KeyHeader.NAME + ": it is "
                        + (header.generation() < best.generation() ? "older than the other copy" : "another header"));
            }
        }
        return new Found(best, faults);
    }

    private static KeyHeader read(Place place) throws IOException {
        Directory folder = place.folder;
        if (folder == null || !folder.exists(KeyHeader.NAME)) {
            throw new KeyException(
                    KeyException.Reason.MISSING,
                    folder == null ? "the folder is missing; is its disk mounted?" : "it is missing");
        }
        try (Input file = folder.open(KeyHeader.NAME)) {
            // Outside the heap, so that the directory makes none of its large buffers: a daemon looks every few
            // seconds.
            ByteBuffer read = ByteBuffer.allocateDirect((int) Math.min(file.length(), KeyHeader.MOST_BYTES + 1));
            file.readFully(0, read);
            byte[] bytes = new byte[read.flip().remaining()];
            read.get(bytes);
            return KeyHeader.read(bytes);
        }
    }

    /**
     * Writes both copies; durable when it returns. After a crash, and after a failure, each copy is the old header or
     * the new one.
     */
    public void write(KeyHeader header) throws IOException {
        for (Place place : places) {
            if (place.folder == null) {
                throw new IOException(
                        place.name + " is missing, and the key header has a copy there; is its disk" + " mounted?");
            }
            write(place.folder, header);
        }
    }

    /**
     * Writes the copies that are missing, damaged or older, or another header of the same generation. Does nothing if a
     * later header is there: then somebody has changed the header since this one was read. One caller at a time.
     *
     * @param header an opened one: what was found is not to be trusted before
     * @return where one was written; a missing folder is passed over
     */
    public List<String> repair(KeyHeader header) throws IOException {
        List<Place> wrong = new ArrayList<>();
        for (Place place : places) {
            KeyHeader present = readOrNull(place);
            if (present != null && present.generation() > header.generation()) {
                return List.of();
            }
            if (present == null || !Arrays.equals(present.bytes(), header.bytes())) {
                wrong.add(place);
            }
        }
        List<String> written = new ArrayList<>();
        for (Place place : wrong) {
            if (place.folder != null) {
                write(place.folder, header);
                written.add(place.name + "/" + KeyHeader.NAME);
            }
        }
        return written;
    }

    private static @Nullable KeyHeader readOrNull(Place place) {
        try {
            return read(place);
        } catch (IOException e) {
            // Missing, damaged, or on a part of the disk that cannot be read.
            return null;
        }
    }

    private static void write(Directory folder, KeyHeader header) throws IOException {
        if (folder.exists(NEW_NAME)) {
            folder.delete(NEW_NAME);
        }
        try (Output file = folder.create(NEW_NAME)) {
            file.append(ByteBuffer.wrap(header.bytes()));
            file.force();
        }
        folder.rename(NEW_NAME, KeyHeader.NAME);
        folder.sync();
    }
}
