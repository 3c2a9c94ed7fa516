package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.restore.cache.CacheParameters.Counting;

class CacheChoiceTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "default",
                "lru",
                "lookahead-log",
                "lookahead-log:hot=5%",
                "lookahead-log:hot=0%",
                "lookahead-log:hot=0.3%",
                "lookahead-log:hot=5%,references=bloom",
                "lookahead-log:references=bloom",
                "lookahead-base:references=bloom"
            })
    void aTextIsItsOwnSpelling(String text) {
        assertEquals(text, CacheChoice.parse(text).toString());
    }

    @Test
    void parametersReachTheCache() {
        CacheChoice choice = CacheChoice.parse("Lookahead-Log:references=bloom,hot=0.05");
        CacheParameters parameters = choice.applyTo(CacheParameters.of(1 << 20, 1 << 16));
        assertEquals(CachePolicy.LOOKAHEAD_LOG, choice.policy());
        assertEquals(CacheParameters.PAPER_HOT_THRESHOLD, parameters.hotThreshold());
        assertEquals(Counting.BLOOM, parameters.counting());
        assertEquals(CacheChoice.of(CachePolicy.LOOKAHEAD_LOG), CacheChoice.parse("lookahead-log:hot=100%"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    lookahead                             | 'lookahead' is no restore cache
                    lookahead-log:                        | '' is no parameter of a restore cache
                    lookahead-log:hot                     | 'hot' is no parameter of a restore cache
                    lookahead-log:hot=warm                | 'hot=warm' is no parameter of a restore cache
                    lookahead-log:hot=101%                | a hot threshold of 1.01
                    lookahead-log:hot=-1%                 | a hot threshold of -0.01
                    lookahead-log:hot=5%,hot=6%           | 'hot=6%' is no parameter of a restore cache
                    lookahead-log:references=few          | 'references=few' is no parameter of a restore cache
                    lookahead-log:log=25%                 | 'log' is no parameter of a restore cache
                    lookahead-base:hot=5%                 | a restore cache lookahead-base with a hot threshold of 0.05
                    default:references=bloom              | a restore cache default with
                    """)
    void whatNoPolicyHasIsRefused(String text, String part) {
        String message = assertThrows(IllegalArgumentException.class, () -> CacheChoice.parse(text))
                .getMessage();
        assertTrue(message.contains(part), message);
    }
}
