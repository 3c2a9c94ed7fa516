package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DiskOptionTest {
    @ParameterizedTest
    @ValueSource(strings = {"auto", "hdd", "ssd", "6.5,180.0", "0.1,2000.0,8"})
    void whatItPrintsItReads(String text) {
        assertEquals(text, DiskOption.parse(text).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "disk", "5", "5,0", "-1,100", "1001,100", "NaN,100", "5,100,0", "5,100,9", "5,100,1,1", "5,x"
            })
    void whatItDoesNotKnowItNames(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> DiskOption.parse(text))
                .getMessage();
        assertTrue(message.contains("allowed: auto, hdd, ssd"), message);
    }

    @Test
    void figuresAreTheModel() {
        assertEquals(
                new DiskModel(6_500_000, 6_500_000, 180_000_000, DiskModel.Source.CONFIGURED),
                DiskOption.parse("6.5,180").model(false));
        assertEquals(
                DiskModel.Source.CONFIGURED,
                DiskOption.parse("hdd").model(false).source());
    }

    @Test
    void withoutFiguresTheKernelsWordHolds() {
        assertEquals(DiskModel.HDD, DiskOption.AUTO.model(true));
        assertEquals(DiskModel.SSD, DiskOption.AUTO.model(false));
    }
}
