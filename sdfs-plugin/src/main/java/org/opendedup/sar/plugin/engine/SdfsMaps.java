package org.opendedup.sar.plugin.engine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.volume.chunks.ClientReferences;

/**
 * Reads the maps that SDFS 3.12 has of its files: which chunks each page of a file has. They are in the folder
 * {@code dedup-db-store}, a file {@code GUID.map} for each file.
 *
 * <p>A map begins with {@value #HEADER_BYTES} bytes: the number {@value #MAGIC} in two bytes, then the version in one.
 * Then follows one record for each page, at a fixed distance from the last one: a byte of flags, the bytes of the
 * record, the number of entries, the entries, and four more bytes. An entry has the fingerprint, the location in eight
 * bytes, and four numbers of four bytes, of which the first is the chunk's length. A page without bytes has a record of
 * zeros. Numbers are big-endian.
 *
 * <p>SDFS writes its maps meanwhile. What it has written since the reading began is read once more at the end: so a
 * record that was half written is found as well, and what was copied from one map to another.
 */
final class SdfsMaps implements ClientReferences {
    private static final String SUFFIX = ".map";
    private static final String COMPRESSED_SUFFIX = ".map.lz4";
    static final int HEADER_BYTES = 256;
    static final int MAGIC = 6442;
    private static final int LEAST_VERSION = 2;

    /** Bytes of a record without its entries, and where the first entry is. */
    static final int RECORD_BYTES = 13;

    static final int ENTRIES_AT = 9;

    /** Bytes of an entry without its fingerprint. */
    static final int PLACE_BYTES = Long.BYTES + 4 * Integer.BYTES;

    /** File systems keep times of changes that are older than the call by up to a tick of the kernel. */
    private static final long TICK_MS = 100;

    private final String folder;
    private final int mostEntries;
    private final int fingerprintBytes;
    private final int entryBytes;

    /** @param mostEntries maximum number of entries in a record, which decides where the next one begins */
    private SdfsMaps(String folder, int mostEntries, int fingerprintBytes) {
        this.folder = folder;
        this.mostEntries = mostEntries;
        this.fingerprintBytes = fingerprintBytes;
        entryBytes = fingerprintBytes + PLACE_BYTES;
    }

    /**
     * Makes a reader of the maps of a volume.
     *
     * @param folder where the maps are; empty if that is not known: then no visit succeeds
     * @param pageKb bytes of a page of a file, in units of 1024
     * @param leastChunkKb least bytes of a chunk, in units of 1024
     * @param fingerprintBytes bytes of a fingerprint of SDFS
     */
    static SdfsMaps of(String folder, long pageKb, long leastChunkKb, int fingerprintBytes) {
        if (pageKb < 1 || pageKb > 1 << 20 || leastChunkKb < 1 || leastChunkKb > pageKb) {
            throw new IllegalArgumentException("a page of " + pageKb + " KiB and chunks of at least " + leastChunkKb
                    + " KiB are not what SDFS 3.12 has: see chunk-size and min-variable-segment-size on <io>");
        }
        // SDFS has room for twice the chunks that a page can have, and takes the least size to be 1 byte less.
        int mostEntries = (int) (2 * ((pageKb << 10) / ((leastChunkKb << 10) - 1)));
        return new SdfsMaps(folder, mostEntries, fingerprintBytes);
    }

    /** Returns the distance from one record to the next. */
    int recordBytes() {
        return RECORD_BYTES + mostEntries * entryBytes;
    }

    @Override
    public void visit(Visitor visitor) throws IOException {
        Instant begun = Instant.now().minusMillis(TICK_MS);
        Set<Path> again = new HashSet<>();
        byte[] memory = new byte[Math.max(HEADER_BYTES, recordBytes())];
        read(new Walk() {
            @Override
            void map(Path map, FileTime changed) throws IOException {
                try {
                    read(map, visitor, memory);
                } catch (MalformedException e) {
                    again.add(map); // SDFS may be writing it.
                }
            }
        });
        read(new Walk() {
            @Override
            void map(Path map, FileTime changed) throws IOException {
                if (changed.toInstant().isAfter(begun) || again.contains(map)) {
                    read(map, visitor, memory);
                }
            }
        });
    }

    /**
     * Requires that no map names a chunk: a store that is made anew would not have it, and the disk with the right one
     * may not be mounted.
     *
     * @throws IOException if one does, or cannot be read
     */
    void requireNoChunk() throws IOException {
        if (folder.isEmpty() || !Files.isDirectory(Path.of(folder))) {
            return; // SDFS makes it.
        }
        visit((fingerprint, location, length) -> {
            // What is not stored, such as zeros, has one of three numbers.
            if (location < -1 || location > 1) {
                throw new IOException("maps of files in it name chunks");
            }
        });
    }

    private void read(Walk walk) throws IOException {
        Object before = identity();
        Files.walkFileTree(Path.of(folder), EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, walk);
        if (!Objects.equals(before, identity())) {
            throw new IOException("another folder came to " + folder + " while SDFS's maps of files were read there");
        }
    }

    /** Returns what tells the folder from another one: maps of a disk that goes away seem to be deleted. */
    private @Nullable Object identity() throws IOException {
        if (folder.isEmpty()) {
            throw new IOException("where SDFS has the maps of its files is not known: dedup-db-store on <locations> is"
                    + " not in the volume file");
        }
        if (!Files.isDirectory(Path.of(folder))) {
            throw new IOException("SDFS's maps of files are not at " + folder + ", which dedup-db-store on <locations>"
                    + " names; is a disk not mounted?");
        }
        return Files.readAttributes(Path.of(folder), BasicFileAttributes.class).fileKey();
    }

    /** Goes to each map. */
    private abstract static class Walk extends SimpleFileVisitor<Path> {
        abstract void map(Path map, FileTime changed) throws IOException;

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            if (file.toString().endsWith(COMPRESSED_SUFFIX)) {
                throw new IOException("the map " + file + " is compressed, and is not read: set compress-metadata to"
                        + " false on <volume>, mount, and open each file for reading once, such as by grep -r");
            }
            if (file.toString().endsWith(SUFFIX)) {
                map(file, attributes.lastModifiedTime());
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE; // Deleted meanwhile.
            }
            throw e;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e) throws IOException {
            return e == null ? FileVisitResult.CONTINUE : visitFileFailed(visited, e);
        }
    }

    /** A map is not what SDFS writes. */
    private static final class MalformedException extends IOException {
        private static final long serialVersionUID = 1;

        MalformedException(Path map, String what) {
            super("SDFS's map " + map + " " + what + ". Restore it, or delete the file that it belongs to: the one"
                    + " whose metadata, in the folder of the files, contain its name");
        }
    }

    /** @param memory for a record */
    private void read(Path map, Visitor visitor, byte[] memory) throws IOException {
        try (InputStream in = opened(map)) {
            // A map without its header was just made by SDFS.
            if (in != null && in.readNBytes(memory, 0, HEADER_BYTES) == HEADER_BYTES) {
                read(map, in, visitor, memory);
            }
        }
    }

    /** Returns null if the file was deleted meanwhile, with its map. */
    private static @Nullable InputStream opened(Path map) throws IOException {
        try {
            return Files.newInputStream(map);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private void read(Path map, InputStream in, Visitor visitor, byte[] memory) throws IOException {
        ByteBuffer record = ByteBuffer.wrap(memory);
        if (record.getShort(0) != MAGIC || record.get(2) < LEAST_VERSION) {
            throw new MalformedException(map, "does not begin as one of SDFS 3.12");
        }
        int read = in.readNBytes(memory, 0, recordBytes());
        for (long page = 0; read >= ENTRIES_AT; page++) {
            visit(record.limit(read), map, page, visitor);
            read = in.readNBytes(memory, 0, recordBytes());
        }
    }

    private void visit(ByteBuffer record, Path map, long page, Visitor visitor) throws IOException {
        int bytes = record.getInt(1);
        int entries = record.getInt(5);
        if (bytes == 0) {
            return;
        }
        if (entries < 0 || entries > mostEntries || bytes != RECORD_BYTES + entries * entryBytes) {
            throw new MalformedException(map, "has no valid record for page " + page);
        }
        // A killed process may have written only a part of the last record.
        int written = Math.min(entries, (record.limit() - ENTRIES_AT) / entryBytes);
        byte[] fingerprint = new byte[fingerprintBytes];
        for (int at = ENTRIES_AT; at < ENTRIES_AT + written * entryBytes; at += entryBytes) {
            record.get(at, fingerprint);
            int place = at + fingerprintBytes;
            visitor.reference(fingerprint, record.getLong(place), record.getInt(place + Long.BYTES));
        }
    }
}
