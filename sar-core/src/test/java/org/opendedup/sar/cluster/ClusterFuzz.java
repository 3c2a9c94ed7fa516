package org.opendedup.sar.cluster;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.opendedup.sar.cluster.ArchiveEntry.Kind;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.fuzz.ParserSet;

/** What a cluster has on its volumes, which whoever can write there may have changed. */
public final class ClusterFuzz {
    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring("archive", List.of(IOException.class), ClusterFuzz::archive, archive())
            .addDeclaring("members", List.of(IOException.class), ClusterFuzz::members, members());

    private ClusterFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static byte[] archive() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(new ArchiveHeader(1, 2, 3, 4).encode());
        ByteBuffer block = ByteBuffer.allocate(1 + BlockRef.BYTES).put((byte) ArchiveEntry.BLOCK);
        BlockRef.of(5, new byte[6]).encode(block);
        bytes.writeBytes(block.array());
        bytes.writeBytes(new ArchiveEntry(Kind.FILE, "a/b", 0644, 1, 2, 3, 4, 0, 6, "").encode());
        bytes.writeBytes(new ArchiveEntry(Kind.LINK, "c", 0777, 1, 2, 3, 4, 0, 0, "a/b").encode());
        return bytes.toByteArray();
    }

    private static void archive(byte[] bytes) throws IOException {
        ArchiveHeader.decode("archive", Arrays.copyOf(bytes, ArchiveHeader.BYTES));
        int from = ArchiveHeader.BYTES;
        ArchiveReader.read(
                new ByteArrayInputStream(bytes, from, Math.max(0, bytes.length - from)),
                entry -> {
                    if (entry.path().startsWith("/") || ("/" + entry.path() + "/").contains("/../")) {
                        throw new AssertionError("leads out: " + entry.path());
                    }
                },
                block -> {
                    if (block.length() < 1 || block.length() > 8 << 20) {
                        throw new AssertionError("a block of " + block.length() + " bytes");
                    }
                });
    }

    private static byte[] members() {
        return new Membership(
                        "home",
                        new UUID(1, 2),
                        3,
                        List.of(
                                new Member(new UUID(4, 5), 6, false, "/mnt/a"),
                                new Member(new UUID(7, 8), 9, true, "/mnt/b")))
                .encode();
    }

    private static void members(byte[] bytes) throws IOException {
        Membership read = Membership.decode("members", bytes);
        if (read.members().stream().anyMatch(member -> member.weight() < 1)) {
            throw new AssertionError("a volume without weight");
        }
    }
}
