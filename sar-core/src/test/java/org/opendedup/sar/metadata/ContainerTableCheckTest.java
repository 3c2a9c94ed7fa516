package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.SystemRecords;

/** The check of the container table finds each kind of contradiction, here made by hand, and nothing else. */
final class ContainerTableCheckTest extends MetadataTest {
    /** Of container 5: 150 of its 6000 bytes before compression are referred to. */
    private static final long GARBAGE_BYTES = 2925;

    ContainerTableCheckTest() throws IOException {}

    @BeforeEach
    void fill() throws IOException {
        reference(5, 0, 100);
        reference(5, 1, 50);
        reference(6, 0, 7);
        store.counts().markDamaged(5, 1, 3);
        commit(Map.of(5L, SEALED, 6L, OPEN));
    }

    @Test
    void whatCommitsLeaveHasNoProblem() throws IOException {
        assertEquals(List.of(), problems());
        store.counts().add(ChunkId.of(5, 0), -1);
        reference(7, 0, 9);
        assertEquals(List.of(), problems(), "changes that are not committed do not count");
        commit(Map.of(7L, OPEN, 6L, SEALED));
        assertEquals(List.of(), problems());
    }

    @Test
    void aContainerWithoutAWholeFrameNeedsNoEntry() throws IOException {
        store.counts().markDamaged(6, 0, 1);
        commit(Map.of(), 6L);
        assertEquals(List.of(), problems());
    }

    @Test
    void aContainerInUseWithoutAnEntryIsReported() throws IOException {
        MetadataDefects.remove(database, Family.CONTAINER, Keys.of(5));
        putSummary(summary(1, 1000, 0, 6L));
        assertReported("container 5 has counts and is not in the container table");
    }

    @Test
    void countsWithoutAnyChunkAndWithoutAnEntryAreReported() throws IOException {
        store.counts().addNew(ChunkId.of(9, 0), 100, 0);
        store.counts().condemn(9, 1);
        store.counts().tombstoneCondemned(9);
        commit(Map.of(9L, SEALED));
        assertEquals(List.of(), problems(), "it has an entry");
        MetadataDefects.remove(database, Family.CONTAINER, Keys.of(9));
        putSummary(summary(2, 4000, GARBAGE_BYTES, 6L));
        assertReported("container 9 has a count record without any chunk and is not in the container table");
    }

    @Test
    void removingAContainerWithoutChunksLeavesNoProblem() throws IOException {
        store.counts().add(ChunkId.of(6, 0), -1);
        tombstoneAll(6);
        commit(Map.of());
        assertEquals(List.of(), problems(), "an entry of a container without chunks");
        commit(Map.of(), 6L);
        assertEquals(List.of(), problems());
    }

    @Test
    void liveBytesOfAContainerWithoutCountsAreReported() throws IOException {
        commit(Map.of(8L, SEALED));
        assertEquals(List.of(), problems());
        putEntry(new ContainerEntry(8, SEALED, 1, 0));
        putSummary(summary(3, 7000, GARBAGE_BYTES + 2999, 6L));
        assertReported("container 8 has 1 live bytes in the container table and 0 in its counts");
    }

    @Test
    void whatDiffersFromTheCountsIsReported() throws IOException {
        putEntry(new ContainerEntry(5, SEALED, 149, 2));
        assertReported("container 5 has 149 live bytes in the container table and 150 in its counts");
        putEntry(new ContainerEntry(5, SEALED, 150, 1));
        assertReported("container 5 has 1 damaged slots in the container table and 2 in its counts");
    }

    private static ContainerSummary summary(long containers, long bytes, long garbageBytes, Long... open) {
        return new ContainerSummary(containers, bytes, garbageBytes, new TreeSet<>(Set.of(open)));
    }

    /** An open container that the list lacks, a sealed one in it, and each number. */
    static List<ContainerSummary> wrongSummaries() {
        return List.of(
                summary(2, 4000, GARBAGE_BYTES),
                summary(2, 4000, GARBAGE_BYTES, 5L, 6L),
                summary(3, 4000, GARBAGE_BYTES, 6L),
                summary(2, 4001, GARBAGE_BYTES, 6L),
                summary(2, 4000, GARBAGE_BYTES + 1, 6L));
    }

    @ParameterizedTest
    @MethodSource("wrongSummaries")
    void aWrongSummaryIsReported(ContainerSummary wrong) throws IOException {
        putSummary(wrong);
        assertReported("the summary of the container table is ");
        putSummary(summary(2, 4000, GARBAGE_BYTES, 6L));
        store = MetadataStore.open(database, CACHE_BYTES);
        assertEquals(List.of(), problems(), "the control: this one is right");
    }

    @Test
    void aSummaryInMemoryThatIsNotTheStoredOneIsReported() throws IOException {
        putEntry(new ContainerEntry(9, stored(State.SEALED, 12_288, 10), 0, 0));
        putSummary(summary(3, 4010, GARBAGE_BYTES + 10, 6L));
        List<String> problems = problems();
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.get(0).contains(" in memory and "), problems::toString);
    }

    /** Reopens the metadata, so that the summary in memory is the stored one. */
    private void assertReported(String beginning) throws IOException {
        store = MetadataStore.open(database, CACHE_BYTES);
        List<String> problems = problems();
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.get(0).startsWith(beginning), problems::toString);
    }

    private List<String> problems() throws IOException {
        List<String> problems = new ArrayList<>();
        ContainerTableCheck.run(store, problems::add);
        return problems;
    }

    private void putEntry(ContainerEntry entry) throws IOException {
        MetadataDefects.put(database, Family.CONTAINER, Keys.of(entry.container()), ContainerEntry.encode(entry));
    }

    private void putSummary(ContainerSummary summary) throws IOException {
        MetadataDefects.put(database, Family.SYSTEM, SystemRecords.CONTAINERS, SystemRecords.encodeContainers(summary));
    }
}
