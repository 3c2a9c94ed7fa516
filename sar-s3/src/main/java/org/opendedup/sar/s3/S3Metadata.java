package org.opendedup.sar.s3;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;

/**
 * The user metadata of an object: one header, {@code sar-object: 1:TOKEN:LENGTH:CRC32C:CHECK}, whose last field is the
 * CRC-32C of the text before it. Clients of HTTP take an answer that was cut among its headers for one that has no more
 * of them, so a part of a value, and of the length of an answer to HEAD, would look right without it.
 */
final class S3Metadata {
    private static final String NAME = "sar-object";
    private static final Pattern VALUE =
            Pattern.compile("(1:([0-9a-f-]{36}):([0-9]{1,18}):([0-9a-f]{8}):)([0-9a-f]{8})");

    private S3Metadata() {}

    static Map<String, String> of(ObjectSource source) {
        String text = "1:" + source.token() + ":" + source.length() + ":"
                + HexFormat.of().toHexDigits(source.crc32c()) + ":";
        return Map.of(NAME, text + checksum(text));
    }

    private static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.US_ASCII));
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }

    /**
     * Returns what the metadata state; empty if they state nothing.
     *
     * @throws UnavailableException if they were cut
     */
    static Optional<ObjectStatus> status(String place, Map<String, String> metadata) throws UnavailableException {
        // Some servers and proxies write each word of a header's name with a capital letter.
        Optional<String> found = metadata.entrySet().stream()
                .filter(header -> header.getKey().equalsIgnoreCase(NAME))
                .map(Map.Entry::getValue)
                .findFirst();
        if (found.isEmpty()) {
            return Optional.empty();
        }
        String value = found.get();
        Matcher fields = VALUE.matcher(value);
        if (!fields.matches() || !checksum(fields.group(1)).equals(fields.group(5))) {
            throw new UnavailableException(place + ": the metadata came incompletely: " + value);
        }
        return Optional.of(new ObjectStatus(
                Long.parseLong(fields.group(3)),
                HexFormat.fromHexDigits(fields.group(4)),
                UUID.fromString(fields.group(2))));
    }
}
