package org.opendedup.sar.metadata.remote;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.backup.BackupNames;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checkpoints of a volume in an object store. A table of RocksDB never changes, so checkpoints share it. The list
 * of a checkpoint's files is put last.
 *
 * <p>Safe for use by many threads.
 */
final class Checkpoints {
    private static final Logger log = LoggerFactory.getLogger(Checkpoints.class);

    /**
     * How long a checkpoint and the segments after it stay when there is a newer one, in milliseconds: who takes the
     * volume over copies it meanwhile. Readers are registered, and nothing is removed while they copy.
     */
    static final long GRACE_MS = 3_600_000;

    /** A list has about 150 bytes for each file; this is for a database of 8 TiB. */
    private static final int MOST_LIST_BYTES = 32 << 20;

    private static final int BUFFER_BYTES = 1 << 20;
    /** So much is read at once, which a store divides into ranges that it reads at the same time. */
    private static final int READ_BYTES = 32 << 20;

    /** RocksDB writes it anew at each opening, and does not read it. */
    private static final String OPTIONS = "OPTIONS-";

    private final ObjectStore objects;
    private final Chain chain;
    private final UUID volume;
    private final @Nullable KeyedHash authenticates;
    private final InstantSource clock;
    /** Tables that kept checkpoints have, by what identifies their bytes. Guarded by this. */
    private final Map<String, BackupFile> tables = new HashMap<>();

    /** Objects that are missing or damaged: what has such a name is deleted before the name is put. Guarded by this. */
    private final Set<String> damaged = new HashSet<>();

    private long attempts;

    /** @param authenticates of an encrypted volume; null: it is not encrypted */
    Checkpoints(ObjectStore objects, Chain chain, UUID volume, @Nullable KeyedHash authenticates, InstantSource clock) {
        this.objects = objects;
        this.chain = chain;
        this.volume = volume;
        this.authenticates = authenticates;
        this.clock = clock;
    }

    /**
     * A checkpoint that is in the store.
     *
     * @param name name of its list
     * @param crc CRC-32C of its list
     * @param newBytes bytes that were put for it alone; 0 if it was there before
     */
    record Stored(String name, Checkpoint checkpoint, int crc, long newBytes) {}

    /**
     * Returns the newest checkpoint that is whole and belongs to the chain; null if there is none. Compares the lengths
     * of its files, and reads none.
     *
     * @param unusable checkpoints that are damaged or not whole, with the reasons, by name: these are passed over, and
     *     what is found is added
     */
    @Nullable
    Stored newest(Map<String, String> unusable) throws IOException {
        List<String> names = checkpoints();
        for (int i = names.size() - 1; i >= 0; i--) {
            Stored stored = unusable.containsKey(names.get(i)) ? null : usable(names.get(i), unusable);
            if (stored != null) {
                return stored;
            }
        }
        return null;
    }

    private @Nullable Stored usable(String name, Map<String, String> unusable) throws IOException {
        String problem;
        try {
            Stored stored = read(name);
            if (!isOfTheChain(stored)) {
                return null;
            }
            problem = problem(stored);
            if (problem == null) {
                return stored;
            }
        } catch (NoSuchFileException e) {
            return null;
        } catch (CorruptionException | UnsupportedFormatException e) {
            problem = e.getMessage();
        }
        log.warn("a checkpoint of the metadata is not used: {}", problem);
        unusable.put(name, String.valueOf(problem));
        return null;
    }

    private boolean isOfTheChain(Stored stored) throws IOException {
        Checkpoint checkpoint = stored.checkpoint();
        if (!checkpoint.isAhead()) {
            return true;
        }
        try {
            Chain.Link next = chain.next(checkpoint.point());
            return next != null
                    && next.segment().content() instanceof LogSegment.Leap leap
                    && leap.checkpoint().equals(stored.name())
                    && leap.crc() == stored.crc();
        } catch (MissingSegmentException e) {
            // It was removed, and so there is a newer checkpoint.
            return false;
        }
    }

    /** Returns what is wrong with the files of a checkpoint, without reading them; null: nothing. */
    private @Nullable String problem(Stored stored) throws IOException {
        Map<String, Long> lengths = lengths();
        for (BackupFile file : stored.checkpoint().files()) {
            long length = length(file, lengths);
            if (length != file.bytes()) {
                return objects + "/" + stored.name() + " needs " + file.stored() + " with " + file.bytes()
                        + " bytes, which " + (length < 0 ? "is missing" : "has " + length);
            }
        }
        return null;
    }

    /** Forgets tables that are missing in the store or have another length, so that they are put again. */
    private void forgetMissing() throws IOException {
        Map<String, Long> lengths = lengths();
        for (BackupFile table : List.copyOf(tables.values())) {
            if (length(table, lengths) != table.bytes()) {
                log.error("{}/{} is missing or damaged, and is put again", objects, table.stored());
                tables.values().remove(table);
                damaged.add(table.stored());
            }
        }
    }

    private Map<String, Long> lengths() throws IOException {
        Map<String, Long> lengths = new HashMap<>();
        objects.listAll(ObjectNaming.FILES, "").forEach(file -> lengths.put(file.name(), file.length()));
        return lengths;
    }

    private long length(BackupFile file, Map<String, Long> listed) throws IOException {
        Long length = listed.get(file.stored());
        return length == null ? length(file.stored()) : length;
    }

    /** Returns the length of an object that a list lacks; -1 if it is missing. */
    private long length(String name) throws IOException {
        try {
            return objects.status(name).length();
        } catch (NoSuchFileException e) {
            return -1;
        }
    }

    private Stored read(String name) throws IOException {
        byte[] bytes = objects.readWhole(name, MOST_LIST_BYTES);
        return stored(name, CheckpointFormat.decode(bytes, objects + "/" + name, authenticates), bytes, 0);
    }

    private static Stored stored(String name, Checkpoint checkpoint, byte[] bytes, long newBytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return new Stored(name, checkpoint, (int) crc.getValue(), newBytes);
    }

    /**
     * Takes the tables of a checkpoint as known, so that the next ones share them. It must be the newest one after the
     * chain got its present owner: the collection of a former owner, which may still run, leaves that one whole.
     */
    synchronized void share(Checkpoint checkpoint) {
        for (BackupFile file : checkpoint.files()) {
            if (BackupNames.isTableOfDatabase(file.name())) {
                tables.put(identity(file.stored()), file);
            }
        }
    }

    /** Returns the part of the name of a stored table that says which bytes it has. */
    private static String identity(String stored) {
        return stored.substring(stored.indexOf('-') + 1);
    }

    /**
     * Puts a checkpoint; it is in the store when this returns.
     *
     * @param folder a copy of the database that does not change
     * @param names its files
     * @param point see {@link Checkpoint}, as the others
     */
    synchronized Stored put(Path folder, List<String> names, ChainPoint point, long sequence, boolean isAhead)
            throws IOException {
        FileDirectory database = FileDirectory.open(folder);
        forgetMissing();
        List<BackupFile> files = new ArrayList<>();
        long lease = point.owner().lease();
        long newBytes = 0;
        attempts++;
        for (String name : names) {
            if (name.startsWith(OPTIONS)) {
                continue;
            }
            boolean isTable = BackupNames.isTableOfDatabase(name);
            String identity = isTable ? BackupNames.table(database, name) : attempts + "-" + name;
            BackupFile known = isTable ? tables.get(identity) : null;
            if (known == null) {
                known = putFile(folder.resolve(name), name, ObjectNaming.file(lease, identity));
                newBytes += known.bytes();
            }
            files.add(known);
        }
        Checkpoint checkpoint = new Checkpoint(volume, point, sequence, isAhead, clock.millis(), files);
        byte[] list = CheckpointFormat.encode(checkpoint, authenticates);
        String name = ObjectNaming.checkpoint(checkpoint);
        makeRoom(name);
        try {
            put(name, ObjectSource.of(list));
        } catch (FileAlreadyExistsException e) {
            // One of the same moment, which an earlier try has put.
            return read(name);
        }
        share(checkpoint);
        return stored(name, checkpoint, list, newBytes + list.length);
    }

    private void makeRoom(String name) throws IOException {
        if (damaged.remove(name)) {
            objects.delete(List.of(name));
        }
    }

    private BackupFile putFile(Path path, String name, String stored) throws IOException {
        makeRoom(stored);
        long bytes = Files.size(path);
        int crc = crc(path);
        ObjectSource source = ObjectSource.of(bytes, crc, offset -> {
            InputStream in = Files.newInputStream(path);
            in.skipNBytes(offset);
            return in;
        });
        try {
            put(stored, source);
        } catch (FileAlreadyExistsException e) {
            if (!has(stored, bytes, crc)) {
                // Only this owner uses the name, so it is damaged; nothing is lost with it.
                log.warn("{}/{} is damaged, and is put again", objects, stored);
                objects.delete(List.of(stored));
                put(stored, source);
            }
        }
        return new BackupFile(name, bytes, crc, stored);
    }

    private boolean has(String stored, long bytes, int crc) throws IOException {
        try {
            ObjectStatus status = objects.status(stored);
            return status.length() == bytes && status.crc32c() == crc;
        } catch (CorruptionException e) {
            return false;
        }
    }

    /** Puts an object; a try of the same put that ended without an answer may have done it. */
    private void put(String name, ObjectSource source) throws IOException {
        try {
            objects.put(name, source);
        } catch (FileAlreadyExistsException e) {
            if (!objects.status(name).token().equals(source.token())) {
                throw e;
            }
        }
    }

    private static int crc(Path path) throws IOException {
        CRC32C crc = new CRC32C();
        byte[] buffer = new byte[BUFFER_BYTES];
        try (InputStream in = Files.newInputStream(path)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                crc.update(buffer, 0, read);
            }
        }
        return (int) crc.getValue();
    }

    /**
     * Reads all that an opening from the newest checkpoint would read. The next checkpoint puts again what was found
     * missing or damaged. Takes long, and holds nobody up: checkpoints are put and removed meanwhile.
     *
     * @param end of the chain; what follows it is not read
     * @return what was found, in a sentence each
     */
    List<String> verify(ChainPoint end, KeyValueStore.Reading reading) throws IOException {
        while (true) {
            Map<String, String> unusable = new TreeMap<>();
            Stored newest = newest(unusable);
            List<String> found = new ArrayList<>(unusable.values());
            Set<String> wrong = new HashSet<>(unusable.keySet());
            if (newest != null) {
                for (BackupFile file : newest.checkpoint().files()) {
                    String problem = problem(file, reading);
                    if (problem != null) {
                        found.add(problem);
                        wrong.add(file.stored());
                    }
                }
            }
            try {
                verifyLog(newest, end, reading);
            } catch (NoSuchFileException | CorruptionException | MissingSegmentException e) {
                found.add(String.valueOf(e.getMessage()));
            }
            if (found.isEmpty()) {
                return found;
            }
            if (newest != null) {
                // The next one may be of the same moment, and so have its name.
                wrong.add(newest.name());
            }
            if (isNewest(newest)) {
                synchronized (this) {
                    damaged.addAll(wrong);
                    tables.values().removeIf(known -> wrong.contains(known.stored()));
                }
                return found;
            }
            // What was missing may have been removed, because of the next one.
        }
    }

    private boolean isNewest(@Nullable Stored checkpoint) throws IOException {
        Stored now = newest(new TreeMap<>());
        return checkpoint == null || now == null
                ? checkpoint == now
                : checkpoint.name().equals(now.name());
    }

    private void verifyLog(@Nullable Stored from, ChainPoint end, KeyValueStore.Reading reading) throws IOException {
        ChainPoint at = from == null ? chain.begin().point() : from.checkpoint().point();
        while (at.number() < end.number()) {
            Chain.Link link = chain.next(at);
            if (link == null) {
                throw new NoSuchFileException(
                        objects + "/" + ObjectNaming.segment(at.owner().lease(), at.number() + 1));
            }
            reading.read(link.bytes());
            at = link.point();
        }
    }

    /** Returns what is wrong with the bytes of a file; null: nothing. */
    private @Nullable String problem(BackupFile file, KeyValueStore.Reading reading) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(READ_BYTES, file.bytes()));
        CRC32C crc = new CRC32C();
        try {
            for (long at = 0; at < file.bytes(); at += buffer.limit()) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), file.bytes() - at));
                read(file, at, buffer);
                crc.update(buffer.flip());
                reading.read(buffer.limit());
            }
            return (int) crc.getValue() == file.crc() ? null : objects + "/" + file.stored() + " has other bytes";
        } catch (NoSuchFileException e) {
            return objects + "/" + file.stored() + " is missing";
        } catch (CorruptionException e) {
            return e.getMessage();
        }
    }

    /**
     * Copies the files of a checkpoint into a folder, and checks each. Durable when it returns.
     *
     * @throws NoSuchFileException if a file was removed meanwhile
     * @throws CorruptionException if a file is damaged
     */
    void copyTo(Checkpoint checkpoint, Path folder) throws IOException {
        FileDirectory target = FileDirectory.open(folder);
        long longest =
                checkpoint.files().stream().mapToLong(BackupFile::bytes).max().orElse(0);
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(READ_BYTES, longest));
        for (BackupFile file : checkpoint.files()) {
            CRC32C crc = new CRC32C();
            try (Output output = target.create(file.name())) {
                for (long at = 0; at < file.bytes(); at += buffer.limit()) {
                    buffer.clear().limit((int) Math.min(buffer.capacity(), file.bytes() - at));
                    read(file, at, buffer);
                    crc.update(buffer.flip());
                    output.append(buffer.flip());
                }
                output.force();
            }
            if ((int) crc.getValue() != file.crc()) {
                throw new CorruptionException(
                        objects + "/" + file.stored(),
                        -1,
                        "a file with CRC-32C " + Integer.toHexString(file.crc()),
                        "one with " + Integer.toHexString((int) crc.getValue()));
            }
        }
        target.sync();
    }

    private void read(BackupFile file, long at, ByteBuffer target) throws IOException {
        try {
            objects.read(file.stored(), at, target);
        } catch (EOFException e) {
            CorruptionException damage = new CorruptionException(
                    objects + "/" + file.stored(), -1, file.bytes() + " bytes", String.valueOf(e.getMessage()));
            damage.initCause(e);
            throw damage;
        }
    }

    /**
     * Removes what nobody needs any more: checkpoints that were replaced longer ago than the grace, the log segments
     * before the oldest that is left, and files that no checkpoint has.
     *
     * @param newest the newest checkpoint, which stays
     * @param ownership fails if the volume has another owner. It is asked between the lists and the deletions: so the
     *     files of another owner are not in the lists, and one that follows finds the newest checkpoint whole
     */
    synchronized void collect(Stored newest, Closing.Step ownership) throws IOException {
        TreeMap<String, Checkpoint> all = new TreeMap<>();
        List<String> unreadable = new ArrayList<>();
        for (String name : checkpoints()) {
            try {
                all.put(name, read(name).checkpoint());
            } catch (NoSuchFileException e) {
                continue;
            } catch (CorruptionException | UnsupportedFormatException e) {
                unreadable.add(name);
            }
        }
        all.put(newest.name(), newest.checkpoint());
        String oldest = oldestNeeded(all, newest);
        List<String> removed = new ArrayList<>(all.headMap(oldest).keySet());
        unreadable.stream().filter(name -> name.compareTo(oldest) < 0).forEach(removed::add);
        // One that cannot be read hides which files it has.
        List<String> files = removed.containsAll(unreadable) ? unneededFiles(all.tailMap(oldest)) : List.of();
        List<String> segments =
                segmentsTo(Objects.requireNonNull(all.get(oldest)).point().number());
        ownership.run();
        delete(removed);
        delete(segments);
        delete(files);
    }

    /** Returns the newest checkpoint that was there before the grace began; who began to read later has none before. */
    private String oldestNeeded(TreeMap<String, Checkpoint> all, Stored newest) {
        long before = clock.millis() - GRACE_MS;
        for (Map.Entry<String, Checkpoint> entry : all.descendingMap().entrySet()) {
            boolean isReplaced = !entry.getKey().equals(newest.name());
            // One that is ahead may have no place in the chain.
            if (entry.getValue().createdMs() <= before
                    && (!isReplaced || !entry.getValue().isAhead())) {
                return entry.getKey();
            }
        }
        return all.firstKey();
    }

    /** Returns the segments up to a number, but not the last one of any owner's part. */
    private List<String> segmentsTo(long number) throws IOException {
        List<String> found = new ArrayList<>();
        String before = null;
        long leaseBefore = -1;
        for (String name : names(ObjectNaming.LOG)) {
            long[] segment = ObjectNaming.segmentOf(name);
            if (segment == null) {
                continue;
            }
            if (before != null && leaseBefore == segment[0]) {
                found.add(before);
            }
            before = segment[1] <= number ? name : null;
            leaseBefore = segment[0];
        }
        return found;
    }

    private List<String> unneededFiles(Map<String, Checkpoint> kept) throws IOException {
        Set<String> needed = new HashSet<>();
        for (Checkpoint checkpoint : kept.values()) {
            checkpoint.files().forEach(file -> needed.add(file.stored()));
        }
        tables.values().removeIf(file -> !needed.contains(file.stored()));
        return names(ObjectNaming.FILES).stream()
                .filter(name -> ObjectNaming.isFile(name) && !needed.contains(name))
                .toList();
    }

    private void delete(List<String> names) throws IOException {
        for (int from = 0; from < names.size(); from += ObjectStore.MOST_NAMES) {
            objects.delete(names.subList(from, Math.min(names.size(), from + ObjectStore.MOST_NAMES)));
        }
    }

    /** Returns the names of the checkpoints. An object that somebody else has put among them is none. */
    private List<String> checkpoints() throws IOException {
        return names(ObjectNaming.CHECKPOINTS).stream()
                .filter(ObjectNaming::isCheckpoint)
                .toList();
    }

    private List<String> names(String prefix) throws IOException {
        return objects.listAll(prefix, "").stream().map(ObjectPage.Entry::name).toList();
    }
}
