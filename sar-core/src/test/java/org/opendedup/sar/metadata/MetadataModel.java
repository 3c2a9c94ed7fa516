package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RecipePage;

/** The contents of a {@link MetadataStore}, in sorted maps. Numbers are small, so that all contents can be compared. */
final class MetadataModel {
    static final int NUMBERS = 12;
    static final int PAGES = 10;
    /** The names are n0, n1, and so on. */
    static final int NAMES = 10;

    final TreeMap<Long, String> inodes = new TreeMap<>();
    final TreeMap<String, Entry> entries = new TreeMap<>();
    final TreeMap<String, String> attributes = new TreeMap<>();
    final TreeMap<Long, Long> orphans = new TreeMap<>();
    /** By inode * {@link #PAGES} + page. */
    final TreeMap<Long, RecipePage> pages = new TreeMap<>();

    final TreeSet<Long> alive = new TreeSet<>();
    final TreeSet<Long> tombstones = new TreeSet<>();
    /** Slots by container. Not part of a copy: no commit keeps them. */
    /** Begins the message about metadata that are not those of the model. */
    static final String DIFFERS = "the metadata are not those of the model";

    final Map<Long, BitSet> condemned = new TreeMap<>();

    long files;

    MetadataModel copy() {
        MetadataModel copy = new MetadataModel();
        copy.inodes.putAll(inodes);
        copy.entries.putAll(entries);
        copy.attributes.putAll(attributes);
        copy.orphans.putAll(orphans);
        copy.pages.putAll(pages);
        copy.alive.addAll(alive);
        copy.tombstones.addAll(tombstones);
        copy.files = files;
        return copy;
    }

    /** The references, counted again from the recipes. */
    Map<Long, Integer> recount() {
        Map<Long, Integer> counts = new TreeMap<>();
        for (RecipePage page : pages.values()) {
            for (int entry = 0; entry < page.count(); entry++) {
                if (!page.isZero(entry)) {
                    counts.merge(page.chunkId(entry), 1, Integer::sum);
                }
            }
        }
        return counts;
    }

    /** Of these, the references that do not begin with the chunk's first byte. */
    private Map<Long, Integer> recountContinuations() {
        Map<Long, Integer> counts = new TreeMap<>();
        for (RecipePage page : pages.values()) {
            for (int entry = 0; entry < page.count(); entry++) {
                if (!page.isZero(entry) && page.chunkOffset(entry) > 0) {
                    counts.merge(page.chunkId(entry), 1, Integer::sum);
                }
            }
        }
        return counts;
    }

    /** Whether a page refers to no tombstone: only such pages can be put. */
    boolean allows(RecipePage page) {
        for (int entry = 0; entry < page.count(); entry++) {
            if (tombstones.contains(page.chunkId(entry))) {
                return false;
            }
        }
        return true;
    }

    /** Condemns slots of a container, and returns all that are condemned. */
    BitSet condemn(long container, int slots) {
        Map<Long, Integer> counts = recount();
        BitSet all = condemned.computeIfAbsent(container, id -> new BitSet());
        for (int slot = 0; slot < slots; slot++) {
            long chunk = ChunkId.of(container, slot);
            if (!counts.containsKey(chunk) && !tombstones.contains(chunk)) {
                all.set(slot);
            }
        }
        return all;
    }

    /** Returns the slots of a container that became tombstones. */
    BitSet tombstoneCondemned(long container) {
        Map<Long, Integer> counts = recount();
        BitSet gone = new BitSet();
        BitSet slots = condemned.remove(container);
        for (int slot = 0; slots != null && slot < slots.length(); slot++) {
            long chunk = ChunkId.of(container, slot);
            if (slots.get(slot) && !counts.containsKey(chunk)) {
                gone.set(slot);
                alive.remove(chunk);
                tombstones.add(chunk);
            }
        }
        return gone;
    }

    private boolean isCondemned(long chunk) {
        BitSet slots = condemned.get(ChunkId.container(chunk));
        return slots != null && slots.get(ChunkId.slot(chunk));
    }

    void replace(long inode, long page, RecipePage now) {
        for (int entry = 0; entry < now.count(); entry++) {
            if (!now.isZero(entry)) {
                alive.add(now.chunkId(entry));
            }
        }
        if (now.count() == 0) {
            pages.remove(inode * PAGES + page);
        } else {
            pages.put(inode * PAGES + page, now);
        }
    }

    boolean matches(MetadataStore store) throws IOException {
        return describe().equals(describe(store));
    }

    void check(MetadataStore store) throws IOException {
        assertEquals(describe(), describe(store), DIFFERS);
        checkPointReads(store);
    }

    private String describe() {
        StringBuilder text = new StringBuilder();
        text.append(inodes).append('\n');
        text.append(entries).append('\n').append(attributes).append('\n').append(orphans);
        pages.forEach((at, page) -> text.append('\n').append(at).append(": ").append(Recipes.describe(page)));
        Map<Long, Integer> counts = recount();
        Map<Long, Integer> continuations = recountContinuations();
        for (long chunk : alive) {
            text.append('\n').append(ChunkId.toString(chunk)).append(" = ").append(counts.getOrDefault(chunk, 0));
            text.append(" - ").append(continuations.getOrDefault(chunk, 0));
        }
        return text.append('\n').append(tombstones).append(files).toString();
    }

    /** The same contents, as scans of the store return them. */
    private static String describe(MetadataStore store) throws IOException {
        MetadataModel found = new MetadataModel();
        StringBuilder counts = new StringBuilder();
        store.namespace().someInodes(1, Integer.MAX_VALUE, inode -> found.inodes.put(inode.id(), text(inode)));
        for (long number = 1; number < NUMBERS; number++) {
            long id = number;
            store.namespace().list(id, 0, (name, inode, type, cookie) -> {
                found.entries.put(id + "/" + new String(name, UTF_8), new Entry(inode, type));
                return true;
            });
            for (byte[] name : store.namespace().attributes(id)) {
                found.attributes.put(
                        id + "/" + new String(name, UTF_8),
                        new String(store.namespace().attribute(id, name), UTF_8));
            }
            store.recipes().forEachPage(id, 0, PAGES, (page, recipe) -> found.pages.put(id * PAGES + page, recipe));
        }
        store.namespace().orphans().forEach(orphan -> found.orphans.put(orphan.inode(), orphan.fromPage()));
        PresentRecords.forEachCounted(store, (container, record) -> {
            for (int slot = 0; slot < record.slots(); slot++) {
                long chunk = ChunkId.of(container, slot);
                if (record.isAlive(slot)) {
                    counts.append('\n')
                            .append(ChunkId.toString(chunk))
                            .append(" = ")
                            .append(record.count(slot))
                            .append(" - ")
                            .append(record.continuations(slot));
                } else if (record.isTombstone(slot)) {
                    found.tombstones.add(chunk);
                }
            }
        });
        StringBuilder text = new StringBuilder();
        text.append(found.inodes).append('\n');
        text.append(found.entries)
                .append('\n')
                .append(found.attributes)
                .append('\n')
                .append(found.orphans);
        found.pages.forEach(
                (at, page) -> text.append('\n').append(at).append(": ").append(Recipes.describe(page)));
        return text.append(counts)
                .append('\n')
                .append(found.tombstones)
                .append(store.totals().files())
                .toString();
    }

    private void checkPointReads(MetadataStore store) throws IOException {
        Map<Long, Integer> counts = recount();
        Map<Long, Integer> continuations = recountContinuations();
        for (long chunk : alive) {
            assertTrue(store.counts().isAlive(chunk));
            assertEquals(!isCondemned(chunk), store.counts().isReferable(chunk));
            int count = counts.getOrDefault(chunk, 0);
            assertEquals(count, store.counts().count(chunk));
            int begun = count - continuations.getOrDefault(chunk, 0);
            assertEquals(Math.min(count, Math.max(1, begun)), store.counts().occurrences(chunk));
        }
        for (long chunk : tombstones) {
            assertTrue(!store.counts().isAlive(chunk) && !store.counts().isReferable(chunk));
        }
        for (long id = 1; id < NUMBERS; id++) {
            Inode inode = store.namespace().inode(id);
            assertEquals(inodes.get(id), inode == null ? null : text(inode));
            for (long page = 0; page < PAGES; page++) {
                assertEquals(
                        Recipes.describe(pages.getOrDefault(id * PAGES + page, RecipePage.EMPTY)),
                        Recipes.describe(store.recipes().page(id, page)));
            }
        }
        for (int i = 0; i < NUMBERS * NAMES; i++) {
            long directory = i / NAMES;
            String name = "n" + i % NAMES;
            assertEquals(
                    entries.get(directory + "/" + name),
                    store.namespace().entry(directory, name.getBytes(UTF_8)),
                    name);
        }
    }

    static String text(Inode inode) {
        return HexFormat.of().formatHex(Inode.encode(inode));
    }
}
