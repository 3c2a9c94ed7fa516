package org.opendedup.sar.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.common.CorruptionException;

/** Which volume has which shards, and which shards move. */
class MembershipTest {
    private static final UUID CLUSTER = new UUID(1, 2);

    private static Member member(int number, long weight) {
        return new Member(new UUID(0x5eed, number), weight, false, "/mnt/" + number);
    }

    private static Membership of(int volumes) {
        return new Membership(
                "home",
                CLUSTER,
                1,
                IntStream.range(0, volumes)
                        .mapToObj(number -> member(number, 100))
                        .toList());
    }

    private static UUID[] homes(Membership membership) {
        return IntStream.range(0, BlockShape.SHARDS)
                .mapToObj(shard -> membership.home(shard).id())
                .toArray(UUID[]::new);
    }

    private static long count(UUID[] homes, UUID volume) {
        return Arrays.stream(homes).filter(volume::equals).count();
    }

    @Test
    void aVolumeThatIsAddedTakesItsPartAndNothingElseMoves() {
        for (int volumes : new int[] {1, 2, 3, 8, 31}) {
            UUID[] before = homes(of(volumes));
            UUID[] after = homes(of(volumes).with(member(volumes, 100)));
            UUID added = member(volumes, 100).id();
            int moved = 0;
            for (int shard = 0; shard < before.length; shard++) {
                if (!before[shard].equals(after[shard])) {
                    moved++;
                    assertEquals(added, after[shard], "a shard moves to the new volume only");
                }
            }
            double fair = 1.0 / (volumes + 1);
            assertEquals(fair, (double) moved / BlockShape.SHARDS, 0.05 * fair, volumes + " volumes");
        }
    }

    @Test
    void controlTheRemainderMovesMost() {
        // SiLo's F mod N: from 3 to 4 volumes, three of four shards move, and to all volumes.
        long moved = IntStream.range(0, BlockShape.SHARDS)
                .filter(shard -> shard % 3 != shard % 4)
                .count();
        assertTrue(moved > BlockShape.SHARDS * 0.7);
    }

    @Test
    void aVolumeThatLeavesGivesItsShardsToTheNextInTheirOrder() {
        Membership four = of(4);
        Member leaver = four.members().get(2);
        Membership leaving = four.with(new Member(leaver.id(), leaver.weight(), true, leaver.place()));
        for (int shard = 0; shard < BlockShape.SHARDS; shard++) {
            Member home = four.home(shard);
            List<Member> order = four.order(shard);
            assertEquals(home, order.get(0));
            assertEquals(home.equals(leaver) ? order.get(1) : home, leaving.home(shard));
            assertEquals(leaving.home(shard), four.without(leaver.id()).home(shard));
        }
        assertThrows(
                IllegalStateException.class,
                () -> new Membership("home", CLUSTER, 1, List.of(new Member(CLUSTER, 1, true, "/mnt"))).home(0));
    }

    @Test
    void aVolumeHasShardsByItsWeight() {
        UUID[] homes = homes(of(2).with(member(2, 200)));
        assertEquals(0.5, (double) count(homes, member(2, 1).id()) / BlockShape.SHARDS, 0.02);
        assertEquals(0.25, (double) count(homes, member(0, 1).id()) / BlockShape.SHARDS, 0.02);
    }

    /** Another order would look for each block in the wrong place. */
    @Test
    void theOrderIsThatOfTheStoredFormat() {
        Membership five = of(5);
        StringBuilder orders = new StringBuilder();
        for (int shard : new int[] {0, 1, 2, 4711, 65535}) {
            five.order(shard).forEach(member -> orders.append(member.place().substring(5)));
            orders.append(' ');
        }
        assertEquals("13240 02134 10234 01324 21340", orders.toString().strip());
        assertEquals(0, BlockShape.shardOf(0));
        assertEquals(26998, BlockShape.shardOf(0x0000_1234_5678_9abcL));
    }

    @Test
    void theListOfVolumesIsText() throws IOException {
        Membership two = of(1).with(new Member(new UUID(7, 8), 5, true, "/net/b with spaces"));
        assertEquals(
                """
                sdfs-cluster 1
                name home
                id 00000000-0000-0001-0000-000000000002
                version 2
                member 00000000-0000-5eed-0000-000000000000 100 /mnt/0
                leaving 00000000-0000-0007-0000-000000000008 5 /net/b with spaces
                """.lines().sorted().toList(),
                new String(two.encode(), StandardCharsets.UTF_8)
                        .lines()
                        .sorted()
                        .toList());
        assertEquals(two, Membership.decode("members", two.encode()));
        String text = new String(two.encode(), StandardCharsets.UTF_8);
        for (String wrong : List.of(
                "",
                text.replace("cluster 1", "cluster 2"),
                text.replace("version 2", "version x"),
                text.replace("member ", "memb "),
                text.replace(" 100 ", " 0 "),
                text.replace("id 0", "ID 0"))) {
            assertThrows(
                    CorruptionException.class,
                    () -> Membership.decode("members", wrong.getBytes(StandardCharsets.UTF_8)),
                    wrong);
        }
    }
}
