package org.opendedup.sar.cluster;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.opendedup.sar.common.ChunkHash;
import org.opendedup.sar.common.CorruptionException;

/**
 * The volumes of a cluster, and the place of each shard among them. Each volume draws a number for a shard from a hash
 * of both, divided by its weight; the least one has the shard (weighted rendezvous hashing: Thaler and Ravishankar,
 * 1998; straw2 of Ceph's CRUSH). A draw depends on one volume alone. So a volume that is added only takes shards, each
 * from the one that was first before, and what leaves gives its shards to the one that was second. The order is also
 * where a block is looked for that is not in its place.
 *
 * @param name the cluster's name
 * @param id made at random for the cluster
 * @param version grows with each change
 * @param members the volumes, in the order of their ids
 */
public record Membership(String name, UUID id, long version, List<Member> members) {
    private static final String HEADER = "sdfs-cluster 1";
    private static final double UNIT = 0x1p-53;

    /**
     * A volume.
     *
     * @param id made at random for it
     * @param weight its share of the shards is this of the sum of all weights; 1 or more
     * @param isLeaving whether its blocks move away and it gets no more
     * @param place the folder by which it was added, for people; machines may reach it by others
     */
    public record Member(UUID id, long weight, boolean isLeaving, String place) {
        public Member {
            if (weight < 1) {
                throw new IllegalArgumentException("a volume's weight is 1 or more, not " + weight);
            }
        }

        /** Returns what it draws for a shard: exponentially distributed, with its weight as the rate. */
        private double draw(int shard) {
            long mixed = ChunkHash.of(id.getMostSignificantBits() ^ ChunkHash.of(id.getLeastSignificantBits() + shard));
            double even = ((mixed >>> 11) + 0.5) * UNIT;
            // The strict one: all machines must get the same.
            return -StrictMath.log(even) / weight;
        }
    }

    public Membership {
        members = members.stream().sorted(Comparator.comparing(Member::id)).toList();
    }

    /** Returns where blocks of a shard are looked for: all volumes, in order. */
    public List<Member> order(int shard) {
        record Drawn(Member member, double number) {}
        return members.stream()
                .map(member -> new Drawn(member, member.draw(shard)))
                .sorted(Comparator.comparingDouble(Drawn::number))
                .map(Drawn::member)
                .toList();
    }

    /**
     * Returns the volume to which a shard belongs.
     *
     * @throws IllegalStateException if all volumes leave
     */
    public Member home(int shard) {
        Member best = null;
        double least = Double.POSITIVE_INFINITY;
        for (Member member : members) {
            double drawn = member.isLeaving ? Double.POSITIVE_INFINITY : member.draw(shard);
            if (drawn < least) {
                best = member;
                least = drawn;
            }
        }
        if (best == null) {
            throw new IllegalStateException("no volume of " + name + " stays");
        }
        return best;
    }

    Optional<Member> member(UUID wanted) {
        return members.stream().filter(member -> member.id.equals(wanted)).findFirst();
    }

    /** Returns the next version, with a volume more, or with another state of one. */
    public Membership with(Member changed) {
        List<Member> all = new ArrayList<>(members);
        all.removeIf(member -> member.id.equals(changed.id));
        all.add(changed);
        return new Membership(name, id, version + 1, all);
    }

    /** Returns the next version, without a volume. */
    public Membership without(UUID gone) {
        return new Membership(
                name,
                id,
                version + 1,
                members.stream().filter(member -> !member.id.equals(gone)).toList());
    }

    /** Returns it as each volume has it: lines of UTF-8, the place at the end of its line. */
    byte[] encode() {
        StringBuilder text =
                new StringBuilder(HEADER + "\nname " + name + "\nid " + id + "\nversion " + version + "\n");
        for (Member member : members) {
            text.append(member.isLeaving ? "leaving " : "member ")
                    .append(member.id)
                    .append(' ')
                    .append(member.weight)
                    .append(' ')
                    .append(member.place.replace('\n', ' '))
                    .append('\n');
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** @throws CorruptionException if the bytes are no such list */
    static Membership decode(String file, byte[] bytes) throws CorruptionException {
        List<String> lines = new String(bytes, StandardCharsets.UTF_8).lines().toList();
        try {
            if (!lines.get(0).equals(HEADER)) {
                throw new IllegalArgumentException("it begins with " + lines.get(0));
            }
            List<Member> members = new ArrayList<>();
            for (String line : lines.subList(4, lines.size())) {
                String[] words = line.split(" ", 4);
                boolean isLeaving = words[0].equals("leaving");
                if (!isLeaving && !words[0].equals("member")) {
                    throw new IllegalArgumentException("it has a line " + line);
                }
                members.add(new Member(UUID.fromString(words[1]), Long.parseLong(words[2]), isLeaving, words[3]));
            }
            return new Membership(
                    value(lines.get(1), "name"),
                    UUID.fromString(value(lines.get(2), "id")),
                    Long.parseLong(value(lines.get(3), "version")),
                    members);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new CorruptionException(file, 0, "the list of a cluster's volumes", String.valueOf(e.getMessage()));
        }
    }

    private static String value(String line, String key) {
        if (!line.startsWith(key + " ")) {
            throw new IllegalArgumentException("it has " + line + " instead of the " + key);
        }
        return line.substring(key.length() + 1);
    }
}
