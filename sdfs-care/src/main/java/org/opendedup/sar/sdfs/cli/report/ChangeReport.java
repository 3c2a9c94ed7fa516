package org.opendedup.sar.sdfs.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.volume.diff.Change;

/**
 * A path that shows something else in one of two states of a volume, as {@link Change} says. The names are stable.
 *
 * @param path as text; what is no UTF-8 is shown by replacement characters
 * @param pathBase64 the bytes of a path that is no UTF-8; else null. The same of the new path
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ChangeReport(
        String change,
        String path,
        @Nullable String pathBase64,
        @Nullable String newPath,
        @Nullable String newPathBase64,
        String type,
        long inode,
        boolean content,
        boolean attributes,
        boolean link,
        boolean replaced) {
    private static final String FOLDER = "folder";

    public static ChangeReport of(Change change) {
        byte[] newPath = change.newPath();
        return new ChangeReport(
                Json.word(change.kind()),
                new String(change.path(), UTF_8),
                base64(change.path()),
                newPath == null ? null : new String(newPath, UTF_8),
                newPath == null ? null : base64(newPath),
                type(change.type()),
                change.inode(),
                change.content(),
                change.attributes(),
                change.link(),
                change.replaced());
    }

    private static @Nullable String base64(byte[] path) {
        boolean isText = Arrays.equals(path, new String(path, UTF_8).getBytes(UTF_8));
        return isText ? null : Base64.getEncoder().encodeToString(path);
    }

    private static String type(int type) {
        return switch (type) {
            case Modes.REGULAR -> "file";
            case Modes.DIRECTORY -> FOLDER;
            case Modes.SYMBOLIC_LINK -> "symlink";
            case Modes.FIFO -> "fifo";
            case Modes.SOCKET -> "socket";
            default -> "device";
        };
    }

    /** Returns {@code R content /old -> /new}. The paths of folders end with a slash. */
    public String text() {
        String mark = change.equals("added") ? "+" : change.equals("deleted") ? "-" : change.substring(0, 1);
        String paths = shown(path, pathBase64);
        return String.format(
                Locale.ROOT,
                "%s  %-18s  %s%s",
                mark.toUpperCase(Locale.ROOT),
                String.join(",", what()),
                paths,
                newPath == null ? "" : " -> " + shown(newPath, newPathBase64));
    }

    private List<String> what() {
        List<String> what = new ArrayList<>();
        if (content) {
            what.add("content");
        }
        if (attributes) {
            what.add("attributes");
        }
        if (link) {
            what.add("link");
        }
        if (replaced) {
            what.add("replaced");
        }
        return what;
    }

    private String shown(String text, @Nullable String base64) {
        String shown = base64 == null
                ? Printable.line(text)
                : escaped(Base64.getDecoder().decode(base64));
        return type.equals(FOLDER) && !shown.equals("/") ? shown + "/" : shown;
    }

    /** Returns text with each byte that is no UTF-8 as {@code \xff}. */
    private static String escaped(byte[] bytes) {
        CharsetDecoder decoder = UTF_8.newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer left = ByteBuffer.wrap(bytes);
        StringBuilder text = new StringBuilder();
        CharBuffer part = CharBuffer.allocate(bytes.length);
        while (left.hasRemaining()) {
            CoderResult result = decoder.reset().decode(left, part.clear(), true);
            text.append(Printable.line(part.flip().toString()));
            for (int wrong = result.isError() ? result.length() : 0; wrong > 0; wrong--) {
                text.append(String.format("\\x%02x", left.get()));
            }
        }
        return text.toString();
    }
}
