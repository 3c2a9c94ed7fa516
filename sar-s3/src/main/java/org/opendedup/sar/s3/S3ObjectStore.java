package org.opendedup.sar.s3;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectNames;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectParts;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.opendedup.sar.objects.VersionChangedException;
import org.opendedup.sar.s3.S3Failures.ConditionException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.Delete;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Error;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A bucket of S3, or the objects below a prefix of one. Conditions are {@code If-None-Match: *} and {@code If-Match}
 * (RFC 9110, section 13.1), which S3 has since 2024 for puts and for the completion of uploads in parts. What is stated
 * of an object is in its user metadata, because not every gateway keeps checksums; each request with bytes also states
 * their CRC-32C to the store, which compares it.
 *
 * <p>An object that is replaced begins with its token. S3 makes the name of a version, the ETag, of the bytes: equal
 * bytes would be one version.
 */
final class S3ObjectStore implements ObjectStore, ReplaceableObjects, ObjectParts {
    private static final String CONTENT_TYPE = "application/octet-stream";
    private static final int TOKEN_BYTES = 2 * Long.BYTES;
    private static final int COPY_BYTES = 64 << 10;
    /** An answer without metadata may have been cut before them. */
    private static final int TRIES_WITHOUT_METADATA = 3;

    private static final Pattern RANGE = Pattern.compile("bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})");
    private static final Pattern TAG = Pattern.compile("\".+\"");

    private final S3Client client;
    private final S3Address address;
    private final TimeLimits limits;

    /** @param limits those of the client; a request that sends many bytes gets a longer one */
    S3ObjectStore(S3Client client, S3Address address, TimeLimits limits) {
        this.client = client;
        this.address = address;
        this.limits = limits;
    }

    private String key(String name) {
        return address.prefix() + ObjectNames.checked(name);
    }

    private String place(String name) {
        return address + name;
    }

    /** Makes a request and translates its failure. */
    private <T> T ask(String name, Answer<T> request) throws IOException {
        try {
            return request.get();
        } catch (SdkException | UncheckedIOException e) {
            throw S3Failures.of(place(name), e);
        }
    }

    /** The bytes of a request, with the failure that ended them: the SDK hides it among its own. */
    private static final class Sent {
        private final ObjectSource source;
        private volatile @Nullable IOException failure;

        Sent(ObjectSource source) {
            this.source = source;
        }

        RequestBody body() {
            return RequestBody.fromContentProvider(this::open, source.length(), CONTENT_TYPE);
        }

        private InputStream open() {
            try {
                return new FilterInputStream(source.open()) {
                    @Override
                    public int read() throws IOException {
                        byte[] one = new byte[1];
                        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
                    }

                    @Override
                    public int read(byte[] target, int offset, int count) throws IOException {
                        try {
                            return super.read(target, offset, count);
                        } catch (IOException e) {
                            failure = e;
                            throw e;
                        }
                    }

                    @Override
                    public boolean markSupported() {
                        return false;
                    }
                };
            } catch (IOException e) {
                failure = e;
                throw new UncheckedIOException(e);
            }
        }

        /** Throws the failure of the bytes, if there was one. */
        void check() throws IOException {
            IOException known = failure;
            if (known != null) {
                throw known;
            }
        }
    }

    /** Makes a request that sends bytes; a failure of the bytes themselves goes before what it causes. */
    private <T> T send(String name, ObjectSource source, SendingRequest<T> request) throws IOException {
        Sent sent = new Sent(source);
        try {
            return request.make(sent.body());
        } catch (SdkException | UncheckedIOException e) {
            sent.check();
            throw S3Failures.of(place(name), e);
        } catch (RuntimeException e) {
            sent.check();
            throw e;
        }
    }

    @FunctionalInterface
    private interface SendingRequest<T> {
        T make(RequestBody body);
    }

    /**
     * Returns the tag of an answer.
     *
     * @throws UnavailableException if it is incomplete: the answer was cut among its headers
     */
    private String whole(String name, @Nullable String tag) throws UnavailableException {
        if (tag == null || !TAG.matcher(tag).matches()) {
            throw incomplete(name);
        }
        return tag;
    }

    private UnavailableException incomplete(String name) {
        return new UnavailableException(place(name) + ": the answer came incompletely");
    }

    private static String base64(int crc32c) {
        return Base64.getEncoder()
                .encodeToString(
                        ByteBuffer.allocate(Integer.BYTES).putInt(crc32c).array());
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        String key = key(name);
        try {
            String tag = send(
                    name,
                    source,
                    body -> client.putObject(
                                    request -> request.bucket(address.bucket())
                                            .key(key)
                                            .ifNoneMatch("*")
                                            .contentLength(source.length())
                                            .contentType(CONTENT_TYPE)
                                            .metadata(S3Metadata.of(source))
                                            .checksumCRC32C(base64(source.crc32c()))
                                            .overrideConfiguration(settings ->
                                                    settings.apiCallTimeout(limits.toSend(source.length()))),
                                    body)
                            .eTag());
            // A proxy may answer 200 in place of a store that has nothing of it, with a page for people.
            var unused = whole(name, tag);
        } catch (ConditionException e) {
            throw new FileAlreadyExistsException(place(name));
        }
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        String key = key(name);
        if (!target.hasRemaining()) {
            return;
        }
        String range = "bytes=" + offset + "-" + (offset + target.remaining() - 1);
        Received received = new Received(name, target);
        received.ask(request -> request.bucket(address.bucket()).key(key).range(range));
    }

    /**
     * The answer to a request for bytes. They are received while the request runs, so its time limit is for them too.
     * The SDK hides failures among its own; what this finds itself goes before them.
     */
    private final class Received implements ResponseTransformer<GetObjectResponse, GetObjectResponse> {
        private final String name;
        private @Nullable ByteBuffer target;
        private @Nullable IOException failure;

        /** @param target is filled with the bytes; null for a buffer of a whole small object */
        Received(String name, @Nullable ByteBuffer target) {
            this.name = name;
            this.target = target;
        }

        GetObjectResponse ask(Consumer<GetObjectRequest.Builder> request) throws IOException {
            try {
                return client.getObject(request, this);
            } catch (SdkException | UncheckedIOException e) {
                if (failure != null) {
                    throw failure;
                }
                throw S3Failures.of(place(name), e);
            }
        }

        @Override
        public GetObjectResponse transform(GetObjectResponse answer, AbortableInputStream bytes) throws IOException {
            boolean isComplete = false;
            try {
                ByteBuffer wanted = target == null ? buffer(answer) : target;
                target = wanted;
                checkLength(answer, wanted);
                // Into the array of the target itself: a copy more of each byte is felt in a restore.
                byte[] some = wanted.hasArray() ? wanted.array() : new byte[Math.min(COPY_BYTES, wanted.remaining())];
                while (wanted.hasRemaining()) {
                    int at = wanted.hasArray() ? wanted.arrayOffset() + wanted.position() : 0;
                    int read = bytes.read(some, at, Math.min(some.length - at, wanted.remaining()));
                    if (read < 0) {
                        throw new IOException("the answer ended in the middle");
                    } else if (wanted.hasArray()) {
                        wanted.position(wanted.position() + read);
                    } else {
                        wanted.put(some, 0, read);
                    }
                }
                isComplete = true;
                return answer;
            } finally {
                if (!isComplete) {
                    // The connection is not used again.
                    bytes.abort();
                }
            }
        }

        private void checkLength(GetObjectResponse answer, ByteBuffer wanted) throws IOException {
            long length = lengthOf(answer);
            if (length < wanted.remaining() && endsObject(answer.contentRange(), length)) {
                failure = new EOFException(
                        place(name) + " has " + length + " bytes of the range, not " + wanted.remaining());
                throw failure;
            } else if (length < wanted.remaining()) {
                throw new IOException("the answer was cut among its headers");
            } else if (length > wanted.remaining()) {
                // A page of a proxy, or a store that knows no ranges: it tells nothing about the object.
                failure = new UnavailableException(
                        place(name) + ": " + length + " bytes came, not the range of " + wanted.remaining());
                throw failure;
            }
        }

        /** Returns whether a range, {@code bytes FIRST-LAST/LENGTH}, has so many bytes and ends with the object. */
        private static boolean endsObject(@Nullable String range, long length) {
            Matcher fields = RANGE.matcher(String.valueOf(range));
            if (!fields.matches()) {
                return false;
            }
            long last = Long.parseLong(fields.group(2));
            return last - Long.parseLong(fields.group(1)) + 1 == length && last + 1 == Long.parseLong(fields.group(3));
        }

        private static long lengthOf(GetObjectResponse answer) throws IOException {
            Long length = answer.contentLength();
            if (length == null) {
                throw new IOException("the answer was cut among its headers");
            }
            return length;
        }

        private ByteBuffer buffer(GetObjectResponse answer) throws IOException {
            long length = lengthOf(answer);
            if (length < TOKEN_BYTES || length > TOKEN_BYTES + MOST_BYTES) {
                CorruptionException wrong =
                        new CorruptionException(place(name), -1, "a small object", length + " bytes");
                failure = wrong;
                throw wrong;
            }
            return ByteBuffer.allocate((int) length);
        }

        byte[] bytes() {
            return Objects.requireNonNull(target).array();
        }
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        Map<String, String> metadata = Map.of();
        for (int tries = 0; tries < TRIES_WITHOUT_METADATA; tries++) {
            metadata = head(name).metadata();
            Optional<ObjectStatus> status = S3Metadata.status(place(name), metadata);
            if (status.isPresent()) {
                return status.get();
            }
        }
        throw foreign(name, metadata);
    }

    @Override
    public Optional<Instant> madeAt(String name) throws IOException {
        return Optional.ofNullable(head(name).lastModified());
    }

    private HeadObjectResponse head(String name) throws IOException {
        String key = key(name);
        try {
            return ask(
                    name,
                    () -> client.headObject(
                            request -> request.bucket(address.bucket()).key(key)));
        } catch (NoSuchFileException | AccessDeniedException e) {
            throw reason(name, e);
        }
    }

    /**
     * Returns why a request for what is stated of an object failed. The answer to one has no text, so it tells neither
     * an object that is missing from a bucket that is, nor wrong credentials from a wrong clock. That to a request for
     * a byte does.
     */
    private IOException reason(String name, IOException failure) {
        String key = key(name);
        try {
            ask(
                    name,
                    () -> client.getObject(
                            request -> request.bucket(address.bucket()).key(key).range("bytes=0-0"),
                            (answer, bytes) -> {
                                bytes.abort();
                                return answer;
                            }));
        } catch (EOFException e) {
            return new UnavailableException(place(name) + " is there now, and empty", e);
        } catch (IOException e) {
            return e;
        }
        return new UnavailableException(place(name) + " can be read now", failure);
    }

    private CorruptionException foreign(String name, Map<String, String> metadata) {
        return new CorruptionException(place(name), -1, "the metadata of an object", String.valueOf(metadata));
    }

    @Override
    public ObjectPage list(String prefix, String after, int limit) throws IOException {
        ObjectNames.checkedPrefix(prefix);
        // Tools that show folders put objects whose names end with a slash, and others put what they like.
        String last = after.isEmpty() ? null : address.prefix() + after;
        List<ObjectPage.Entry> objects;
        boolean isLast;
        do {
            List<S3Object> found = new ArrayList<>();
            isLast = list(prefix, last, limit, found);
            objects = found.stream()
                    .map(object -> new ObjectPage.Entry(
                            object.key().substring(address.prefix().length()), object.size()))
                    .filter(object -> ObjectNames.isName(object.name()))
                    .toList();
            last = found.isEmpty() ? last : found.get(found.size() - 1).key();
        } while (objects.isEmpty() && !isLast);
        return new ObjectPage(objects, isLast);
    }

    /**
     * Adds a page of the list, whatever the names are; returns whether no object follows.
     *
     * @param after the key before it; null: the page is the first
     */
    private boolean list(String prefix, @Nullable String after, int limit, List<S3Object> found) throws IOException {
        ListObjectsV2Response answer = ask(
                prefix,
                () -> client.listObjectsV2(request -> request.bucket(address.bucket())
                        .prefix(address.prefix() + prefix)
                        .startAfter(after)
                        .maxKeys(limit)));
        if (answer.isTruncated() == null) {
            throw incomplete(prefix);
        }
        if (answer.isTruncated() && answer.contents().isEmpty()) {
            throw incomplete(prefix);
        }
        found.addAll(answer.contents());
        return !answer.isTruncated();
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        List<ObjectIdentifier> keys = new ArrayList<>();
        for (String name : names) {
            keys.add(ObjectIdentifier.builder().key(key(name)).build());
        }
        if (keys.isEmpty()) {
            return;
        }
        DeleteObjectsResponse answer = ask(
                "",
                () -> client.deleteObjects(request -> request.bucket(address.bucket())
                        .checksumAlgorithm(ChecksumAlgorithm.CRC32_C)
                        .delete(Delete.builder().objects(keys).build())));
        if (answer.hasErrors() && !answer.errors().isEmpty()) {
            S3Error first = answer.errors().get(0);
            throw S3Failures.ofCode(
                    "s3://" + address.bucket() + "/" + first.key(),
                    String.valueOf(first.code()),
                    String.valueOf(first.message()));
        } else if (!answer.hasDeleted() || answer.deleted().isEmpty()) {
            throw incomplete("");
        }
    }

    @Override
    public void removeUnfinished(Instant before) throws IOException {
        List<MultipartUpload> uploads = ask(
                "",
                () -> client
                        .listMultipartUploadsPaginator(
                                request -> request.bucket(address.bucket()).prefix(address.prefix()))
                        .uploads()
                        .stream()
                        .filter(upload -> upload.initiated().isBefore(before))
                        .toList());
        for (MultipartUpload upload : uploads) {
            abandonKey(upload.key(), upload.uploadId());
        }
    }

    @Override
    public Optional<ReplaceableObjects> replaceable() {
        return Optional.of(this);
    }

    @Override
    public Optional<Version> current(String name) throws IOException {
        String key = key(name);
        Received received = new Received(name, null);
        GetObjectResponse answer;
        try {
            answer = received.ask(request -> request.bucket(address.bucket()).key(key));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        byte[] whole = received.bytes();
        int crc32c = ObjectSource.of(whole).crc32c();
        // All bytes came, so the headers before them did, too.
        Optional<ObjectStatus> stated = S3Metadata.status(place(name), answer.metadata());
        if (stated.isEmpty()) {
            throw foreign(name, answer.metadata());
        } else if (crc32c != stated.get().crc32c()) {
            throw new CorruptionException(
                    place(name),
                    -1,
                    String.format("CRC-32C %08x", stated.get().crc32c()),
                    String.format("%08x", crc32c));
        }
        ByteBuffer start = ByteBuffer.wrap(whole);
        UUID token = new UUID(start.getLong(), start.getLong());
        return Optional.of(
                new Version(whole(name, answer.eTag()), token, Arrays.copyOfRange(whole, TOKEN_BYTES, whole.length)));
    }

    @Override
    public String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
        String key = key(name);
        ReplaceableObjects.check(contents);
        byte[] whole = ByteBuffer.allocate(TOKEN_BYTES + contents.length)
                .putLong(token.getMostSignificantBits())
                .putLong(token.getLeastSignificantBits())
                .put(contents)
                .array();
        ObjectSource bytes = ObjectSource.of(whole);
        ObjectSource source = new ObjectSource(bytes.length(), bytes.crc32c(), token, bytes.opening());
        try {
            String tag = send(
                    name,
                    source,
                    body -> client.putObject(
                                    request -> request.bucket(address.bucket())
                                            .key(key)
                                            .ifNoneMatch(expected == null ? "*" : null)
                                            // Without quotes: Ceph 16 compares what it is sent with a tag without them.
                                            .ifMatch(expected == null ? null : expected.replace("\"", ""))
                                            .contentLength(source.length())
                                            .contentType(CONTENT_TYPE)
                                            .metadata(S3Metadata.of(source))
                                            .checksumCRC32C(base64(source.crc32c())),
                                    body)
                            .eTag());
            return whole(name, tag);
        } catch (ConditionException | NoSuchFileException e) {
            throw new VersionChangedException(place(name));
        }
    }

    @Override
    public Optional<ObjectParts> parts() {
        return Optional.of(this);
    }

    @Override
    public String begin(String name, ObjectSource source) throws IOException {
        String key = key(name);
        String upload = ask(
                name,
                () -> client.createMultipartUpload(request -> request.bucket(address.bucket())
                                .key(key)
                                .contentType(CONTENT_TYPE)
                                .metadata(S3Metadata.of(source))
                                .checksumAlgorithm(ChecksumAlgorithm.CRC32_C))
                        .uploadId());
        if (upload == null) {
            throw incomplete(name);
        }
        return upload;
    }

    @Override
    public Part put(String name, String upload, int number, ObjectSource part) throws IOException {
        String key = key(name);
        String receipt = send(
                name,
                part,
                body -> client.uploadPart(
                                request -> request.bucket(address.bucket())
                                        .key(key)
                                        .uploadId(upload)
                                        .partNumber(number)
                                        .contentLength(part.length())
                                        .checksumCRC32C(base64(part.crc32c()))
                                        .overrideConfiguration(
                                                settings -> settings.apiCallTimeout(limits.toSend(part.length()))),
                                body)
                        .eTag());
        return new Part(whole(name, receipt), part.crc32c());
    }

    @Override
    public void complete(String name, String upload, List<Part> parts) throws IOException {
        String key = key(name);
        List<CompletedPart> completed = new ArrayList<>();
        for (Part part : parts) {
            completed.add(CompletedPart.builder()
                    .partNumber(completed.size() + 1)
                    .eTag(part.receipt())
                    .checksumCRC32C(base64(part.crc32c()))
                    .build());
        }
        try {
            String tag = ask(
                    name,
                    () -> client.completeMultipartUpload(request -> request.bucket(address.bucket())
                                    .key(key)
                                    .uploadId(upload)
                                    .ifNoneMatch("*")
                                    .multipartUpload(all -> all.parts(completed)))
                            .eTag());
            // The answer is a document, which cannot be cut unnoticed; Ceph 16 has the tag in it without quotes.
            if (tag == null) {
                throw incomplete(name);
            }
        } catch (ConditionException e) {
            throw new FileAlreadyExistsException(place(name));
        }
    }

    @Override
    public void abandon(String name, String upload) throws IOException {
        abandonKey(key(name), upload);
    }

    private void abandonKey(String key, String upload) throws IOException {
        try {
            ask(
                    key.substring(address.prefix().length()),
                    () -> client.abortMultipartUpload(
                            request -> request.bucket(address.bucket()).key(key).uploadId(upload)));
        } catch (NoSuchFileException e) {
            // It was completed or abandoned.
        }
    }

    @Override
    public void close() {
        client.close();
    }

    @Override
    public String toString() {
        return address.toString();
    }
}
