package org.opendedup.sar.sdfs.cli.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.cli.mounts.MountHelperOptions;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/** Messages to the control socket, mount options, and the kernel's table of mounts. */
public final class CommandTextsFuzz {
    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring(
                    "message",
                    List.of(IOException.class),
                    CommandTextsFuzz::message,
                    bytes("{\"version\":1,\"command\":\"gc\","
                            + "\"arguments\":{\"leave\":10,\"paths\":[\"/a\",null,1.5]}}"))
            .addDeclaring(
                    "mount options",
                    List.of(IllegalArgumentException.class),
                    b -> MountOptions.of(Path.of("/mnt"), "v").with(text(b)),
                    bytes("ro,noatime,threads=4,allow_other"))
            .add("options of mount(8)", b -> MountHelperOptions.without(text(b)), bytes("rw,noauto,x-a=b,user=c,fd=3"))
            .add(
                    "table of mounts",
                    b -> MountTable.of(b),
                    bytes("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - fuse.sdfs /dev/root rw,user_id=0\n"))
            .add("field", b -> MountTable.field(text(b)), bytes("a\\040b"));

    private CommandTextsFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void message(byte[] bytes) throws IOException {
        Map<String, Object> message = Json.read(text(bytes));
        if (!Json.read(Json.line(message)).equals(message)) {
            throw new AssertionError("a message that changes when it is written and read");
        }
        message.keySet().forEach(name -> {
            Json.object(message, name);
            Json.number(message, name);
            Json.decimal(message, name);
        });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, UTF_8);
    }
}
