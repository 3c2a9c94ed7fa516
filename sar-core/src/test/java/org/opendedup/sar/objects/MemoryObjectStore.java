package org.opendedup.sar.objects;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A store in memory: what a store must do, in the shortest way. */
public final class MemoryObjectStore implements ObjectStore, ReplaceableObjects, ObjectParts {
    private record Stored(ObjectStatus status, byte[] bytes) {}

    private record Upload(Instant begun, ObjectSource source, Map<Integer, byte[]> parts) {}

    private final boolean keepsConditions;
    /** All guarded by this. */
    private final NavigableMap<String, Stored> objects = new TreeMap<>();

    private final Map<String, Integer> made = new HashMap<>();

    private final Map<String, Upload> uploads = new HashMap<>();

    public MemoryObjectStore() {
        this(true);
    }

    /** @param keepsConditions false makes a store that overwrites, as a gateway does that knows no conditions */
    MemoryObjectStore(boolean keepsConditions) {
        this.keepsConditions = keepsConditions;
    }

    private static byte[] read(ObjectSource source) throws IOException {
        try (InputStream bytes = source.open()) {
            return bytes.readAllBytes();
        }
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        ObjectNames.checked(name);
        keep(name, source, read(source));
    }

    private synchronized void keep(String name, ObjectSource source, byte[] bytes) throws IOException {
        if (keepsConditions && objects.containsKey(name)) {
            throw new FileAlreadyExistsException(name);
        }
        made.merge(name, 1, Integer::sum);
        objects.put(name, new Stored(new ObjectStatus(bytes.length, source.crc32c(), source.token()), bytes));
    }

    private synchronized Stored stored(String name) throws IOException {
        Stored stored = objects.get(ObjectNames.checked(name));
        if (stored == null) {
            throw new NoSuchFileException(name);
        }
        return stored;
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        byte[] bytes = stored(name).bytes();
        if (offset + target.remaining() > bytes.length) {
            throw new EOFException(name);
        }
        target.put(bytes, (int) offset, target.remaining());
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        return stored(name).status();
    }

    @Override
    public synchronized ObjectPage list(String prefix, String after, int limit) {
        ObjectNames.checkedPrefix(prefix);
        List<ObjectPage.Entry> found = objects.tailMap(after, false).entrySet().stream()
                .filter(each -> each.getKey().startsWith(prefix))
                .limit(limit + 1L)
                .map(each -> new ObjectPage.Entry(each.getKey(), each.getValue().bytes().length))
                .toList();
        return new ObjectPage(found.subList(0, Math.min(limit, found.size())), found.size() <= limit);
    }

    @Override
    public synchronized void delete(Collection<String> names) {
        names.forEach(name -> objects.remove(ObjectNames.checked(name)));
    }

    @Override
    public synchronized void removeUnfinished(Instant before) {
        uploads.values().removeIf(upload -> upload.begun().isBefore(before));
    }

    @Override
    public Optional<ReplaceableObjects> replaceable() {
        return Optional.of(this);
    }

    @Override
    public synchronized Optional<Version> current(String name) {
        return Optional.ofNullable(objects.get(name))
                .map(now -> new Version(
                        now.status().token().toString(), now.status().token(), now.bytes()));
    }

    @Override
    public String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
        ReplaceableObjects.check(contents);
        if (!keepsConditions) {
            LockSupport.parkNanos(1_000_000); // Others replace it meanwhile.
        }
        synchronized (this) {
            if (keepsConditions
                    && !Optional.ofNullable(expected).equals(current(name).map(Version::version))) {
                throw new VersionChangedException(name);
            }
            objects.put(name, new Stored(new ObjectStatus(contents.length, 0, token), contents.clone()));
            return token.toString();
        }
    }

    @Override
    public Optional<ObjectParts> parts() {
        return Optional.of(this);
    }

    @Override
    public synchronized String begin(String name, ObjectSource source) {
        String upload = UUID.randomUUID().toString();
        uploads.put(upload, new Upload(Instant.now(), source, new TreeMap<>()));
        return upload;
    }

    private Upload upload(String name, String upload) throws NoSuchFileException {
        Upload found = uploads.get(upload);
        if (found == null) {
            throw new NoSuchFileException(name);
        }
        return found;
    }

    @Override
    public Part put(String name, String upload, int number, ObjectSource part) throws IOException {
        byte[] bytes = read(part);
        synchronized (this) {
            upload(name, upload).parts().put(number, bytes);
        }
        return new Part(Integer.toString(number), part.crc32c());
    }

    @Override
    public synchronized void complete(String name, String upload, List<Part> parts) throws IOException {
        Upload found = upload(name, upload);
        ByteBuffer bytes = ByteBuffer.allocate((int) found.source().length());
        for (Part part : parts) {
            bytes.put(found.parts().get(Integer.parseInt(part.receipt())));
        }
        keep(name, found.source(), bytes.array());
        uploads.remove(upload);
    }

    @Override
    public synchronized void abandon(String name, String upload) {
        uploads.remove(upload);
    }

    /** Returns how often an object was put. */
    public synchronized int timesMade(String name) {
        return made.getOrDefault(name, 0);
    }

    /** Returns the number of puts in parts that have not ended. */
    public synchronized int unfinished() {
        return uploads.size();
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
        return "memory";
    }
}
