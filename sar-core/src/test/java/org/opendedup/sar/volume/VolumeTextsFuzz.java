package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.restore.cache.CacheChoice;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.posix.AccessControlList;

/** What administrators and programs pass to a volume: sizes, options, access lists; and the identity of its data. */
public final class VolumeTextsFuzz {
    private static final UUID VOLUME = new UUID(1, 2);

    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring("size", List.of(IllegalArgumentException.class), VolumeTextsFuzz::size, text("256KB"))
            .addDeclaring(
                    "disk",
                    List.of(IllegalArgumentException.class),
                    bytes -> DiskOption.parse(text(bytes)),
                    text("auto"),
                    text("8.5,120,4"))
            .addDeclaring(
                    "cache policy",
                    List.of(IllegalArgumentException.class),
                    bytes -> CacheChoice.parse(text(bytes)),
                    text("default"))
            .add("name of a pack", VolumeTextsFuzz::pack, text(PackFormat.fileName(65537)))
            .add("printable", VolumeTextsFuzz::printable, text("a\u001b[31m"))
            .addDeclaring(
                    "access list",
                    List.of(PosixException.class),
                    VolumeTextsFuzz::accessList,
                    ParserSet.unhex(
                            "0200000001000600ffffffff02000400e803000004000400ffffffff10000600ffffffff20000400ffffffff"))
            .addDeclaring(
                    "identity",
                    List.of(IOException.class),
                    VolumeTextsFuzz::identity,
                    text(VOLUME + " 7 00000000000000ff\n"));

    private VolumeTextsFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void size(byte[] bytes) {
        long size = ByteSize.parse(text(bytes));
        if (size < 0 || ByteSize.parse(ByteSize.exact(size)) != size) {
            throw new AssertionError(text(bytes) + " is " + size + ", written " + ByteSize.exact(size));
        }
    }

    private static void pack(byte[] bytes) {
        PackFormat.numberOf(text(bytes)).ifPresent(number -> {
            if (!PackFormat.fileName(number).equals(text(bytes))) {
                throw new AssertionError(text(bytes) + " is taken for pack " + number);
            }
        });
    }

    private static void printable(byte[] bytes) {
        if (Printable.line(text(bytes)).chars().anyMatch(Character::isISOControl)) {
            throw new AssertionError("a control character in " + Arrays.toString(bytes));
        }
    }

    private static void accessList(byte[] bytes) throws PosixException {
        AccessControlList list = AccessControlList.parse(bytes);
        byte[] same = AccessControlList.parse(list.toBytes()).toBytes();
        if (!Arrays.equals(list.toBytes(), same)) {
            throw new AssertionError("an access list that changes when it is written and read");
        }
        for (int mode = 0; mode < 0777; mode += 37) {
            int applied = list.withMode(mode).applyTo(mode);
            if ((applied & 0777) != mode) {
                throw new AssertionError(String.format("mode %o becomes %o", mode, applied));
            }
            list.limitedTo(mode).isMode();
        }
    }

    private static void identity(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Files.write(folder.resolve("volume.id"), bytes);
        VolumeIdentity.read(FileDirectory.open(folder), VOLUME);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
