require "minitest/autorun"
require_relative "importer"

class FakeClient
  def get(path, **)
    Response.new(path)
  end
end

class AwsImporterTest < Minitest::Test
  def setup
    @client = FakeClient.new
    @importer = Imports::AwsImporter.new("eu-west-1", client: @client)
  end

  def test_imports_machines
    @importer.import
    assert_equal 2, @importer.machines.size
  end

  def test_refuses_unknown_regions
    error = assert_raises(ArgumentError) { Imports::AwsImporter.run("moon") }
    assert_match(/region/, error.message)
  end

  private

  def machine(id) = Imports::Machine.new(id, "web-#{id}")
end

RSpec.describe Imports::Machine do
  subject(:machine) { described_class.new(1, "web") }

  it "has a label" do
    expect(machine.label).to eq("web (1)")
  end
end

class LabelTest < ActiveSupport::TestCase
  test "is never empty" do
    refute_empty Imports::Machine.new(2, nil).label
  end
end
