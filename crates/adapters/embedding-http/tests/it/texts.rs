//! Tests texts and batches of all sizes in virtual time.

use cairn_domain::{DenseVector, InputType};
use cairn_fake_provider::{Settings, Shape};
use cairn_ports::{Embedder, ErrorKind};

use crate::virtual_time::{VirtualProvider, as_strs, config, quota, texts};

async fn vectors(settings: Settings, texts: &[&str]) -> (Vec<DenseVector>, u64, u64) {
    let provider = VirtualProvider::new(settings);
    let embedder = provider.embedder(config(provider.provider().settings.shape));
    let found = embedder.embed(InputType::Passage, texts).await.expect("vectors");
    let counters = embedder.counters();
    (found, counters.num_split, counters.num_truncated)
}

#[tokio::test(start_paused = true)]
async fn too_large_batch_is_split_until_it_fits() {
    for shape in [Shape::Voyage, Shape::Openai, Shape::Tei] {
        let texts = texts(0, 100);
        let whole = vectors(Settings::new(shape), &as_strs(&texts)).await;
        assert_eq!((whole.1, whole.2), (0, 0));
        let few_texts = Settings { max_texts: 3, ..Settings::new(shape) };
        let few_tokens = Settings { max_tokens: 150, ..Settings::new(shape) };
        for settings in [few_texts, few_tokens] {
            let split = vectors(settings, &as_strs(&texts)).await;
            assert_eq!(split.0, whole.0, "{shape:?}");
            assert!(split.1 > 20 && split.2 == 0, "{shape:?}: {} splits, {} cut", split.1, split.2);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn too_long_text_is_cut_and_counted_alone() {
    let long = "数 ".repeat(7_000);
    let texts = ["short", &long, "other"];
    for shape in [Shape::Voyage, Shape::Openai] {
        let settings = Settings { max_text_tokens: 1_000, ..Settings::new(shape) };
        let (found, num_split, num_truncated) = vectors(settings.clone(), &texts).await;
        assert!(num_split > 0 && num_truncated > 0, "{shape:?}");
        let alone = vectors(settings.clone(), &[&long]).await.0;
        assert_eq!(found[1], alone[0]);
        assert_eq!(found[0], vectors(settings, &["short"]).await.0[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn one_too_long_text_among_many_is_found() {
    let mut many = texts(0, 1_000);
    many[700] = "word ".repeat(3_000);
    let sizes = Settings { max_texts: 2_048, max_tokens: 1_000_000, ..Settings::new(Shape::Openai) };
    let provider = VirtualProvider::new(Settings { max_text_tokens: 1_000, ..sizes });
    let mut settings = config(Shape::Openai);
    (settings.max_texts, settings.max_tokens) = (Some(2_048), Some(1_000_000));
    let embedder = provider.embedder(settings);
    let found = embedder.embed(InputType::Passage, &as_strs(&many)).await.expect("vectors");
    let counters = embedder.counters();
    // All texts are in one batch: each half that contains the long text is halved again.
    assert!((9..=10).contains(&counters.num_split) && counters.num_truncated == 1, "{counters:?}");
    let [first, last] = [&many[0], &many[999]].map(|text| vec![text.as_str()]);
    let alone = async |texts: Vec<&str>| vectors(Settings::new(Shape::Openai), &texts).await.0;
    assert_eq!((&found[0], &found[999]), (&alone(first).await[0], &alone(last).await[0]));
}

#[tokio::test(start_paused = true)]
async fn text_that_never_fits_is_too_large() {
    let provider = VirtualProvider::new(Settings { max_text_tokens: 0, ..Settings::new(Shape::Openai) });
    let embedder = provider.embedder(config(Shape::Openai));
    let error = embedder.embed(InputType::Passage, &["text of some length"]).await.expect_err("the text never fits");
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert!(embedder.counters().num_calls <= 9, "{:?}", embedder.counters());
}

/// The quota allows fewer tokens than one batch of this provider can have. The client makes batches smaller
/// before it requests permission, and no call waits forever.
#[tokio::test(start_paused = true)]
async fn batches_fit_the_quota() {
    let provider = VirtualProvider::new(Settings { tokens: Some(5_000), ..Settings::new(Shape::Voyage) });
    let mut settings = config(Shape::Voyage);
    settings.quota = quota(1_000, 5_000);
    settings.max_text_tokens = Some(300);
    let embedder = provider.embedder(settings);
    let texts = texts(0, 300);
    let found = embedder.embed(InputType::Passage, &as_strs(&texts)).await.expect("vectors");
    let report = provider.provider().report();
    assert_eq!((found.len(), report.statuses.get(&429)), (300, None));
    assert!(report.most_tokens <= 5_000 && provider.now().as_secs() < 240, "{report:?} {:?}", provider.now());
}

#[tokio::test(start_paused = true)]
async fn questions_and_passages_are_distinguished() {
    for shape in [Shape::Voyage, Shape::Openai, Shape::Tei] {
        let provider = VirtualProvider::new(Settings::new(shape));
        let embedder = provider.embedder(config(shape));
        embedder.embed(InputType::Query, &["question"]).await.expect("a vector");
        embedder.embed(InputType::Passage, &["passage"]).await.expect("a vector");
        let found: Vec<bool> = provider.provider().calls().iter().map(|call| call.is_question).collect();
        assert_eq!(found, [true, false], "{shape:?}");
    }
}
