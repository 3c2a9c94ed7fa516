package org.opendedup.sar.hot.promotion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.hot.copies.Requests.CHUNK_BYTES;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.hot.copies.FakeSsd;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.copies.Requests;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.hot.policy.ReferenceCountPolicy;
import org.opendedup.sar.hot.policy.Settings;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.Source;

class SelectivePromotionTest {
    private static final long INODE = 5;

    private final FakeSsd ssd = new FakeSsd(Long.MAX_VALUE);
    private final Set<Long> recent = new HashSet<>();
    private long floor;
    private boolean hasRoom = true;
    private int hits;
    private final Admission admission = new Admission() {
        @Override
        public boolean admits(long rank) {
            return rank >= floor;
        }

        @Override
        public boolean hasRoom() {
            return hasRoom;
        }

        @Override
        public void noteHits(int chunks) {
            hits += chunks;
        }
    };
    private final SelectivePromotion promotion =
            new SelectivePromotion(Settings.of(Policy.REFERENCE_COUNT), ssd, admission, this::noteRead, 1);

    private boolean noteRead(long chunkId, int length) {
        return !recent.add(chunkId) && recent.remove(chunkId);
    }

    private void write(Requests requests) {
        promotion.onDuplicatesWritten(INODE, requests.request);
    }

    private void read(Requests requests) {
        promotion.onChunksRead(requests.request, chunkId -> 1);
    }

    @Test
    void duplicatesFromTheThresholdOnGoToTheSsdWithTheirBytes() {
        write(new Requests().run(1, 3, 2, 5).run(2, 9, 1, 4));
        assertEquals(Set.of(ChunkId.of(1, 3), ChunkId.of(1, 4)), ssd.entries.keySet());
        byte[] expected = new byte[CHUNK_BYTES];
        java.util.Arrays.fill(expected, (byte) 3);
        assertArrayEquals(expected, ssd.bytes.get(ChunkId.of(1, 3)));
        assertEquals(DiskCost.saving(2 * CHUNK_BYTES), ssd.entries.get(ChunkId.of(1, 3)).saving);
        assertEquals(2, promotion.statistics().byWrite());
        assertEquals(2 * CHUNK_BYTES, promotion.statistics().bytes());
        assertEquals(1, promotion.statistics().refused(Refusal.COUNT));
    }

    @Test
    void aLongRunIsRefusedForItsLength() {
        write(new Requests().run(1, 0, 16, 5).run(2, 0, 16, 1));
        assertEquals(0, ssd.size());
        assertEquals(32, promotion.statistics().refused(Refusal.RUN));
        assertEquals(0, promotion.statistics().refused(Refusal.COUNT));
    }

    @Test
    void whatIsThereAlreadyIsHotterAndKnowsItsReferences() {
        write(new Requests().run(1, 3, 1, 5));
        write(new Requests().run(1, 3, 1, 6));
        assertEquals(6, ssd.entries.get(ChunkId.of(1, 3)).count);
        assertEquals(2, ssd.entries.get(ChunkId.of(1, 3)).heat);
        assertEquals(1, promotion.statistics().refused(Refusal.PRESENT));
        assertEquals(1, hits);
    }

    @Test
    void aRepeatedChunkIsPromotedOnce() {
        write(new Requests().run(1, 3, 1, 5).run(1, 3, 1, 5).run(2, 0, 1, 5).run(1, 3, 1, 5));
        assertEquals(2, promotion.statistics().byWrite());
        assertEquals(2, promotion.statistics().refused(Refusal.PRESENT));
    }

    @Test
    void aSecondReadFromTheDiskPromotesWhateverTheCount() {
        read(new Requests().run(1, 3, 2, 0));
        assertEquals(0, ssd.size());
        read(new Requests().run(1, 4, 2, 0));
        assertEquals(Set.of(ChunkId.of(1, 4)), ssd.entries.keySet());
        assertEquals(1, promotion.statistics().byRead());
        assertFalse(recent.contains(ChunkId.of(1, 4)));
    }

    @Test
    void twiceInOneRequestIsNotASecondRead() {
        Requests twice =
                new Requests().run(1, 3, 1, 0).run(1, 3, 1, 0).run(2, 0, 1, 0).run(1, 3, 1, 0);
        read(twice);
        assertEquals(0, ssd.size());
        assertTrue(recent.contains(ChunkId.of(1, 3)));
        read(twice);
        assertEquals(2, ssd.size());
    }

    @Test
    void aReadFromMemoryIsARead() {
        read(new Requests().run(1, 3, 2, 0));
        assertEquals(0, ssd.size());
        read(new Requests().run(1, 3, 2, 0).from(Source.MEMORY));
        assertEquals(Set.of(ChunkId.of(1, 3), ChunkId.of(1, 4)), ssd.entries.keySet());
        assertEquals(2, promotion.statistics().byRead());
    }

    @Test
    void theFirstReadFromMemoryPromotesIfThePolicyIsOpen() {
        promotion.apply(Settings.of(Policy.OPEN));
        read(new Requests().run(1, 0, 16, 0).from(Source.MEMORY));
        assertEquals(16, ssd.size());
        assertEquals(0, hits);
    }

    @Test
    void aReadOfACopyFromMemoryHeatsItAndIsNoOffer() {
        write(new Requests().run(1, 3, 1, 5));
        long offered = promotion.statistics().offered();
        read(new Requests().run(1, 3, 1, 0).from(Source.MEMORY));
        read(new Requests().run(1, 3, 1, 0).from(Source.MEMORY));
        assertEquals(3, ssd.entries.get(ChunkId.of(1, 3)).heat);
        assertEquals(2, hits);
        assertEquals(offered, promotion.statistics().offered());
        assertTrue(recent.isEmpty());
    }

    @Test
    void aChunkThatAFrameLacksIsPromotedWithItsFirstRead() {
        write(new Requests().run(1, 3, 1, 5));
        read(new Requests().run(1, 3, 1, 0).run(1, 7, 2, 0).run(2, 0, 1, 0));
        assertEquals(Set.of(ChunkId.of(1, 3), ChunkId.of(1, 7), ChunkId.of(1, 8)), ssd.entries.keySet());
        assertEquals(DiskCost.saving(2 * CHUNK_BYTES), ssd.entries.get(ChunkId.of(1, 7)).saving);
        assertEquals(2, promotion.statistics().byRead());
    }

    @Test
    void aChunkBesideAFrameWithoutCopiesIsNotLacking() {
        write(new Requests().run(1, 3, 1, 5));
        Requests both = new Requests().run(1, 3, 3, 0);
        both.request.setFrame(2, 1);
        read(both);
        assertEquals(Set.of(ChunkId.of(1, 3)), ssd.entries.keySet());
    }

    @Test
    void manyLackingNeighboursAreLeftToTheDisk() {
        write(new Requests().run(1, 3, 1, 5));
        read(new Requests().run(1, 3, 17, 0));
        assertEquals(Set.of(ChunkId.of(1, 3)), ssd.entries.keySet());
        assertEquals(16, promotion.statistics().refused(Refusal.RUN));
    }

    @Test
    void whatTheDiskDidNotGiveIsNotPromoted() {
        for (int round = 0; round < 3; round++) {
            ChunkRequest failed = new ChunkRequest();
            failed.add(ChunkId.of(1, 3), CHUNK_BYTES, 0, 0);
            promotion.onChunksRead(failed, chunkId -> 9);
        }
        assertEquals(0, ssd.size());
    }

    @Test
    void aLongRunIsNotPromotedByReading() {
        read(new Requests().run(1, 0, 16, 0));
        read(new Requests().run(1, 0, 16, 0));
        assertEquals(0, ssd.size());
        assertEquals(16, promotion.statistics().refused(Refusal.RUN));
    }

    @Test
    void readingCanBeLeftOut() {
        promotion.apply(Settings.promoteOnRead(false));
        read(new Requests().run(1, 3, 1, 0));
        read(new Requests().run(1, 3, 1, 0));
        assertEquals(0, ssd.size());
        assertTrue(recent.isEmpty());
    }

    @Test
    void aReadOfTheSsdHeatsItsEntryAlsoWhenNothingIsPromotedAnyMore() {
        write(new Requests().run(1, 3, 1, 5));
        promotion.apply(Settings.disabled());
        read(new Requests().run(1, 3, 1, 0).from(Source.SSD));
        assertEquals(2, ssd.entries.get(ChunkId.of(1, 3)).heat);
        assertEquals(5, ssd.entries.get(ChunkId.of(1, 3)).count);
        assertEquals(1, hits);
    }

    @Test
    void whatWasOnlyPlannedToBeReadFromTheSsdHeatsNothing() {
        write(new Requests().run(1, 3, 1, 5));
        ChunkRequest planned = new ChunkRequest();
        planned.add(ChunkId.of(1, 3), CHUNK_BYTES, 0, 0);
        planned.setSource(0, Source.SSD);
        promotion.onChunksRead(planned, chunkId -> 5);
        assertEquals(1, ssd.entries.get(ChunkId.of(1, 3)).heat);
        assertEquals(0, hits);
    }

    @Test
    void countsAreAskedForSecondReadsOnly() {
        int[] asked = {0};
        Requests requests = new Requests().run(1, 3, 4, 0);
        promotion.onChunksRead(requests.request, chunkId -> asked[0]++);
        assertEquals(0, asked[0]);
        promotion.onChunksRead(requests.request, chunkId -> asked[0]++);
        assertEquals(4, asked[0]);
    }

    @Test
    void countsThatCannotBeReadFailNoRead() {
        for (int round = 0; round < 2; round++) {
            promotion.onChunksRead(new Requests().run(1, 3, 1, 0).request, chunkId -> {
                throw new IOException("the metadata database is gone");
            });
        }
        assertEquals(0, ssd.size());
    }

    @Test
    void aFullSsdRefusesWhatIsWorthLess() {
        floor = new ReferenceCountPolicy(1, 1).rank(9, CHUNK_BYTES, 0, 0);
        write(new Requests().run(1, 3, 1, 8).run(2, 3, 1, 9));
        assertEquals(Set.of(ChunkId.of(2, 3)), ssd.entries.keySet());
        assertEquals(1, promotion.statistics().refused(Refusal.RANK));
    }

    @Test
    void byCostADuplicateGetsNoPlaceOfAFullSsdAndAChunkReadTwiceDoes() {
        promotion.apply(Settings.of(Policy.COST));
        hasRoom = false;
        write(new Requests().run(1, 0, 2, 9));
        assertEquals(Set.of(), ssd.entries.keySet());
        assertEquals(2, promotion.statistics().refused(Refusal.RANK));
        read(new Requests().run(1, 0, 1, 9));
        read(new Requests().run(1, 0, 1, 9));
        assertEquals(Set.of(ChunkId.of(1, 0)), ssd.entries.keySet());
    }

    @Test
    void byCostTheFirstReadFromTheSsdMakesUpForHavingBeenOnlyWritten() {
        promotion.apply(Settings.of(Policy.COST));
        write(new Requests().run(1, 0, 1, 2));
        int written = ssd.entries.get(ChunkId.of(1, 0)).saving;
        ChunkRequest hit = new Requests().run(1, 0, 1, 2).request;
        hit.setSource(0, Source.SSD);
        promotion.onChunksRead(hit, chunkId -> 2);
        assertTrue(ssd.entries.get(ChunkId.of(1, 0)).saving > 10 * written);
    }

    @Test
    void whatTheSsdDoesNotTakeIsCounted() {
        ssd.answer = OfferAnswer.QUEUE_FULL;
        write(new Requests().run(1, 3, 1, 5));
        ssd.answer = OfferAnswer.UNAVAILABLE;
        write(new Requests().run(1, 3, 1, 5));
        assertEquals(1, promotion.statistics().remembered());
        assertEquals(2, promotion.statistics().offered());
        assertEquals(1, promotion.statistics().refused(Refusal.UNAVAILABLE));
        assertEquals(0, promotion.statistics().promoted());
    }

    @Test
    void activeMeansEnabledWithAnSsd() {
        assertTrue(promotion.isActive());
        ssd.answer = OfferAnswer.UNAVAILABLE;
        assertFalse(promotion.isActive());
        ssd.answer = OfferAnswer.TAKEN;
        promotion.apply(Settings.disabled());
        assertFalse(promotion.isActive());
        write(new Requests().run(1, 3, 1, 9));
        assertEquals(0, ssd.size());
    }

    @Test
    void theListenerHearsOfEachFileThatGotDuplicates() {
        List<Long> heard = new ArrayList<>();
        promotion.listen(heard::add);
        write(new Requests());
        write(new Requests().run(1, 3, 1, 2));
        assertEquals(List.of(INODE), heard);
    }
}
