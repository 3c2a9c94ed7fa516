package org.opendedup.sar.s3;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * A gateway of S3 in this JVM, with one bucket in memory: the requests that a store makes, with conditions that are
 * atomic, and with signatures and checksums that are compared, as AWS documents them. Starts in milliseconds.
 */
final class MemoryGateway implements Closeable {
    static final String ACCESS_KEY = "memory-gateway";
    static final String SECRET_KEY = "secret";
    static final String BUCKET = "bucket";

    private static final Pattern AUTHORIZATION = Pattern.compile(
            "AWS4-HMAC-SHA256 Credential=([^/]+)/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})");

    private static final int THREADS = 8;

    /** What a request is answered with other than success. */
    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;
        private final int status;
        private final String code;

        Refusal(int status, String code) {
            super(code);
            this.status = status;
            this.code = code;
        }
    }

    /** When all objects were put. */
    static final String MADE = "Mon, 30 Nov 2026 04:00:00 GMT";

    private record Stored(byte[] bytes, String etag, Map<String, String> metadata) {}

    private record Upload(String key, Map<String, String> metadata, Instant begun, Map<Integer, byte[]> parts) {}

    private record Answer(int status, Map<String, String> headers, byte[] body) {
        static Answer xml(String body) {
            return new Answer(200, Map.of("Content-Type", "application/xml"), body.getBytes(StandardCharsets.UTF_8));
        }

        static Answer of(int status, Map<String, String> headers) {
            return new Answer(status, headers, new byte[0]);
        }
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    /** Guarded by this, as all below. */
    private final NavigableMap<String, Stored> objects = new TreeMap<>();

    private final Map<String, Upload> uploads = new HashMap<>();
    private final Set<String> archived = new HashSet<>();
    private boolean keepsConditions = true;
    private boolean changesBytes;

    MemoryGateway() throws IOException {
        // Else each answer waits for the acknowledgement of its headers, 40 ms.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    InetSocketAddress address() {
        return server.getAddress();
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + address().getPort());
    }

    /** Ignores conditions from now on, as a gateway does that does not know them. */
    synchronized void ignoreConditions() {
        keepsConditions = false;
    }

    /** Changes a byte of the next object on its way. */
    synchronized void changeBytesOnce() {
        changesBytes = true;
    }

    synchronized void clear() {
        objects.clear();
        uploads.clear();
    }

    /** Removes the metadata of an object, as a copy by another program does. */
    synchronized void removeMetadata(String key) {
        Stored stored = objects.get(key);
        objects.put(key, new Stored(stored.bytes(), stored.etag(), Map.of()));
    }

    /** Puts an object as other programs do, with any key. */
    synchronized void putForeign(String key) {
        objects.put(key, new Stored(new byte[] {1}, "\"foreign\"", Map.of()));
    }

    /** Moves an object into an archive, as a rule of a bucket does: its bytes cannot be read. */
    synchronized void archive(String key) {
        archived.add(key);
    }

    synchronized int unfinished() {
        return uploads.size();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            Answer answer;
            try {
                answer = answer(exchange, body);
            } catch (Refusal e) {
                String text = "<Error><Code>" + e.code + "</Code><Message>refused</Message></Error>";
                answer = new Answer(
                        e.status, Map.of("Content-Type", "application/xml"), text.getBytes(StandardCharsets.UTF_8));
            }
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(
                    answer.status(), isHead || answer.body().length == 0 ? -1 : answer.body().length);
            if (!isHead) {
                exchange.getResponseBody().write(answer.body());
            }
        }
    }

    private Answer answer(HttpExchange exchange, byte[] body) throws Refusal {
        checkSignature(exchange);
        String path = exchange.getRequestURI().getPath();
        String bucket = path.replaceFirst("^/([^/]*).*", "$1");
        if (!bucket.equals(BUCKET)) {
            throw new Refusal(404, "NoSuchBucket");
        }
        checkBody(exchange, body);
        Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
        String key = path.length() > bucket.length() + 2 ? path.substring(bucket.length() + 2) : "";
        synchronized (this) {
            return switch (exchange.getRequestMethod()) {
                case "PUT" -> query.containsKey("partNumber") ? putPart(query, body) : put(key, exchange, body);
                case "POST" -> post(key, query, exchange, body);
                case "GET" -> key.isEmpty() ? list(query) : get(key, exchange);
                case "HEAD" -> get(key, exchange);
                case "DELETE" -> abort(query);
                default -> throw new Refusal(405, "MethodNotAllowed");
            };
        }
    }

    /** Compares the signature (AWS Signature Version 4), without which headers that were cut would look right. */
    private static void checkSignature(HttpExchange exchange) throws Refusal {
        Matcher fields = AUTHORIZATION.matcher(
                String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
        if (!fields.matches() || !fields.group(1).equals(ACCESS_KEY)) {
            throw new Refusal(403, "InvalidAccessKeyId");
        }
        String scope = fields.group(2);
        StringBuilder request = new StringBuilder(exchange.getRequestMethod()).append('\n');
        request.append(exchange.getRequestURI().getRawPath()).append('\n');
        String query = exchange.getRequestURI().getRawQuery();
        request.append(Arrays.stream(query == null ? new String[0] : query.split("&"))
                .map(parameter -> parameter.contains("=") ? parameter : parameter + "=")
                .sorted()
                .collect(Collectors.joining("&")));
        request.append('\n');
        for (String name : fields.group(3).split(";")) {
            String value = exchange.getRequestHeaders().getFirst(name);
            request.append(name)
                    .append(':')
                    .append(String.valueOf(value).trim())
                    .append('\n');
        }
        request.append('\n').append(fields.group(3)).append('\n');
        request.append(exchange.getRequestHeaders().getFirst("x-amz-content-sha256"));
        String text = "AWS4-HMAC-SHA256\n" + exchange.getRequestHeaders().getFirst("x-amz-date") + "\n" + scope + "\n"
                + hex("SHA-256", request.toString().getBytes(StandardCharsets.UTF_8));
        byte[] key = ("AWS4" + SECRET_KEY).getBytes(StandardCharsets.UTF_8);
        for (String part : scope.split("/")) {
            key = signed(key, part);
        }
        if (!HexFormat.of().formatHex(signed(key, text)).equals(fields.group(4))) {
            throw new Refusal(403, "SignatureDoesNotMatch");
        }
    }

    private static byte[] signed(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static Map<String, String> query(@Nullable String query) {
        Map<String, String> parameters = new HashMap<>();
        if (query != null) {
            for (String parameter : query.split("&")) {
                String[] parts = parameter.split("=", 2);
                parameters.put(parts[0], parts.length == 1 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
            }
        }
        return parameters;
    }

    private synchronized void checkBody(HttpExchange exchange, byte[] body) throws Refusal {
        if (changesBytes && body.length > 0) {
            changesBytes = false;
            body[body.length / 2]++;
        }
        String length = exchange.getRequestHeaders().getFirst("Content-length");
        if (length != null && Long.parseLong(length) != body.length) {
            throw new Refusal(400, "IncompleteBody");
        }
        CRC32C crc = new CRC32C();
        crc.update(body);
        String stated = exchange.getRequestHeaders().getFirst("x-amz-checksum-crc32c");
        byte[] found =
                ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue()).array();
        if (stated != null && !Arrays.equals(Base64.getDecoder().decode(stated), found)) {
            throw new Refusal(400, "BadDigest");
        }
        String sha = exchange.getRequestHeaders().getFirst("x-amz-content-sha256");
        if (sha != null && sha.length() == 64 && !sha.equals(hex("SHA-256", body))) {
            throw new Refusal(400, "XAmzContentSHA256Mismatch");
        }
    }

    private static String hex(String algorithm, byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static Map<String, String> metadata(HttpExchange exchange) {
        Map<String, String> metadata = new HashMap<>();
        exchange.getRequestHeaders().forEach((name, values) -> {
            if (name.toLowerCase(Locale.ROOT).startsWith("x-amz-meta-")) {
                metadata.put(name, values.get(0));
            }
        });
        return metadata;
    }

    private void checkConditions(String key, HttpExchange exchange) throws Refusal {
        Stored stored = objects.get(key);
        String match = exchange.getRequestHeaders().getFirst("If-Match");
        if (!keepsConditions) {
            return;
        } else if (exchange.getRequestHeaders().getFirst("If-None-Match") != null && stored != null) {
            throw new Refusal(412, "PreconditionFailed");
        } else if (match != null && stored == null) {
            throw new Refusal(404, "NoSuchKey");
        } else if (match != null
                && !match.replace("\"", "").equals(stored.etag().replace("\"", ""))) {
            throw new Refusal(412, "PreconditionFailed");
        }
    }

    private Answer put(String key, HttpExchange exchange, byte[] body) throws Refusal {
        checkConditions(key, exchange);
        Stored made = new Stored(body, '"' + hex("MD5", body) + '"', metadata(exchange));
        objects.put(key, made);
        return Answer.of(200, Map.of("ETag", made.etag()));
    }

    private Stored stored(String key) throws Refusal {
        Stored stored = objects.get(key);
        if (stored == null) {
            throw new Refusal(404, "NoSuchKey");
        }
        return stored;
    }

    private Answer get(String key, HttpExchange exchange) throws Refusal {
        Stored stored = stored(key);
        if (archived.contains(key) && exchange.getRequestMethod().equals("GET")) {
            throw new Refusal(403, "InvalidObjectState");
        }
        Map<String, String> headers = new HashMap<>(stored.metadata());
        headers.put("ETag", stored.etag());
        headers.put("Last-Modified", MADE);
        byte[] bytes = stored.bytes();
        String range = exchange.getRequestHeaders().getFirst("Range");
        int status = 200;
        if (range != null) {
            String[] ends = range.substring("bytes=".length()).split("-");
            long from = Long.parseLong(ends[0]);
            if (from >= bytes.length) {
                throw new Refusal(416, "InvalidRange");
            }
            long end = Math.min(bytes.length, Long.parseLong(ends[1]) + 1);
            headers.put("Content-Range", "bytes " + from + "-" + (end - 1) + "/" + bytes.length);
            bytes = Arrays.copyOfRange(bytes, (int) from, (int) end);
            status = 206;
        }
        if (exchange.getRequestMethod().equals("HEAD")) {
            headers.put("Content-Length", Integer.toString(bytes.length));
        }
        return new Answer(status, headers, bytes);
    }

    private Answer list(Map<String, String> query) {
        if (query.containsKey("uploads")) {
            return listUploads(query.getOrDefault("prefix", ""));
        }
        String prefix = query.getOrDefault("prefix", "");
        int limit = Integer.parseInt(query.getOrDefault("max-keys", "1000"));
        StringBuilder xml = new StringBuilder("<ListBucketResult>");
        int count = 0;
        boolean isTruncated = false;
        for (Map.Entry<String, Stored> each :
                objects.tailMap(query.getOrDefault("start-after", ""), false).entrySet()) {
            if (!each.getKey().startsWith(prefix)) {
                continue;
            } else if (count++ == limit) {
                isTruncated = true;
                break;
            }
            xml.append("<Contents><Key>")
                    .append(each.getKey().replace("&", "&amp;"))
                    .append("</Key><Size>");
            xml.append(each.getValue().bytes().length).append("</Size></Contents>");
        }
        return Answer.xml(xml.append("<IsTruncated>")
                .append(isTruncated)
                .append("</IsTruncated></ListBucketResult>")
                .toString());
    }

    private Answer listUploads(String prefix) {
        StringBuilder xml = new StringBuilder("<ListMultipartUploadsResult>");
        uploads.forEach((id, upload) -> {
            if (upload.key().startsWith(prefix)) {
                xml.append("<Upload><Key>").append(upload.key()).append("</Key><UploadId>");
                xml.append(id)
                        .append("</UploadId><Initiated>")
                        .append(upload.begun().truncatedTo(ChronoUnit.MILLIS));
                xml.append("</Initiated></Upload>");
            }
        });
        return Answer.xml(xml.append("<IsTruncated>false</IsTruncated></ListMultipartUploadsResult>")
                .toString());
    }

    private Answer post(String key, Map<String, String> query, HttpExchange exchange, byte[] body) throws Refusal {
        if (query.containsKey("delete")) {
            StringBuilder xml = new StringBuilder("<DeleteResult>");
            for (String deleted : elements(body, "Key")) {
                objects.remove(deleted);
                xml.append("<Deleted><Key>").append(deleted).append("</Key></Deleted>");
            }
            return Answer.xml(xml.append("</DeleteResult>").toString());
        } else if (query.containsKey("uploads")) {
            String id = UUID.randomUUID().toString();
            uploads.put(id, new Upload(key, metadata(exchange), Instant.now(), new TreeMap<>()));
            return Answer.xml(
                    "<InitiateMultipartUploadResult><UploadId>" + id + "</UploadId></InitiateMultipartUploadResult>");
        }
        return complete(key, upload(query), query.get("uploadId"), exchange, body);
    }

    private Upload upload(Map<String, String> query) throws Refusal {
        Upload upload = uploads.get(query.get("uploadId"));
        if (upload == null) {
            throw new Refusal(404, "NoSuchUpload");
        }
        return upload;
    }

    private Answer putPart(Map<String, String> query, byte[] body) throws Refusal {
        upload(query).parts().put(Integer.parseInt(query.get("partNumber")), body);
        return Answer.of(200, Map.of("ETag", '"' + hex("MD5", body) + '"'));
    }

    private Answer complete(String key, Upload upload, String id, HttpExchange exchange, byte[] body) throws Refusal {
        List<String> numbers = elements(body, "PartNumber");
        List<String> tags = elements(body, "ETag");
        int length =
                upload.parts().values().stream().mapToInt(part -> part.length).sum();
        ByteBuffer whole = ByteBuffer.allocate(length);
        for (int at = 0; at < numbers.size(); at++) {
            byte[] part = upload.parts().get(Integer.parseInt(numbers.get(at)));
            if (part == null || !tags.get(at).equals('"' + hex("MD5", part) + '"')) {
                throw new Refusal(400, "InvalidPart");
            } else if (at < numbers.size() - 1 && part.length < 5 << 20) {
                throw new Refusal(400, "EntityTooSmall");
            }
            whole.put(part);
        }
        checkConditions(key, exchange);
        String etag = '"' + hex("MD5", whole.array()) + "-" + numbers.size() + '"';
        objects.put(key, new Stored(whole.array(), etag, upload.metadata()));
        uploads.remove(id);
        return Answer.xml("<CompleteMultipartUploadResult><ETag>&quot;x&quot;</ETag></CompleteMultipartUploadResult>");
    }

    private Answer abort(Map<String, String> query) throws Refusal {
        upload(query);
        uploads.remove(query.get("uploadId"));
        return Answer.of(204, Map.of());
    }

    /** Returns the texts of all elements of a name. */
    private static List<String> elements(byte[] xml, String name) {
        try {
            Document document =
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new ByteArrayInputStream(xml));
            NodeList found = document.getElementsByTagName(name);
            List<String> texts = new ArrayList<>();
            for (int at = 0; at < found.getLength(); at++) {
                texts.add(((Element) found.item(at)).getTextContent());
            }
            return texts;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
